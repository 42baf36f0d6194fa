import { randomUUID } from 'node:crypto'
import {
  allOperations,
  type Input,
  inboxOf,
  isReplySealed,
  type Operation,
  operations,
  Rejection,
  rpcSubject,
  type Scope,
  type ServiceName,
  serviceNames,
  servicePermissions,
  teamConsole,
} from '@backoffice/contracts'
import { inputSchema, RpcClient } from '@backoffice/rpc'
import { newReplyKey } from '@backoffice/team-access/identity'
import { callersOf, newWithdrawal, OperatorClient, reason, richPlayer, testBed } from '@backoffice/test-kit'
import type { TObject } from '@sinclair/typebox'
import t from 'tap'
import { createDeposit, expectStatus, playerRequest } from '../journey.ts'
import { services } from '../services.ts'
import { Effects } from './effects.ts'

// What a taken-over service, or a stolen password of the broker, may say: each operation, by each service that may call it,
// with a scope that is not that of the brand, and with the right scope of another brand than the record's.

const bed = await testBed(t, services)
const alice = bed.team('alice')

/** Of the withdrawal and of the deposit: a hold or a credit of another amount would be none of theirs. */
const amount = '4.00'

/** One brand, and records on which operations would succeed. */
interface Tenant {
  readonly name: string
  readonly scope: Scope
  readonly records: Readonly<Record<string, unknown>>
}

async function newTenants(name: string): Promise<Tenant[]> {
  const { operatorId } = await alice.call(operations.gateway.createOperator, { input: { name } })
  const { brands } = await alice.call(operations.gateway.getOperator, { input: { name } })
  return Promise.all(
    brands.map(async ({ id: brandId, environment, currency, timeZone }) => {
      const { key, secret } = await bed.agreed(operations.gateway.issueCredential, {
        input: { operatorId, environment },
      })
      const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, { key, secret: secret ?? '' })
      t.teardown(() => client.close())
      const by = callersOf(client, alice)
      const playerId = await richPlayer(by)
      const { externalId } = await alice.call(operations.players.showPlayer, { input: { playerId } })
      const withdrawalId = await newWithdrawal(by)
      const { id: depositId } = await createDeposit(client, playerId, amount)
      // A decision of the sandbox would change it.
      await alice.call(operations.players.decideKyc, {
        input: { playerId, submission: null, status: 'reprovado', reason },
      })
      const scope = { operatorId, brandId, environment, currency, timeZone }
      const records = { playerId, depositId, withdrawalId, externalId, operatorIds: [operatorId] }
      return { name: `${name} in ${environment}`, scope, records }
    }),
  )
}
const victims = await newTenants('Casa Azul')
const tenants = [...victims, ...(await newTenants('Casa Verde'))]

/** What else operations take. */
const others: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(Object.entries(playerRequest()).map(([field, value]) => [field, () => value])),
  documentType: () => 'rg',
  reference: () => 'doc-1',
  gameId: () => 'fortune-reels',
  status: () => 'aprovado',
  decision: () => 'approve',
  reason: () => 'as it was agreed',
  amount: () => amount,
  currency: () => 'BRL',
  method: () => 'pix',
  destination: () => 'attacker@example.com',
  externalReference: () => randomUUID(),
  effectiveAt: () => new Date().toISOString(),
  operatorName: () => 'Casa Azul',
  abandonedOperationId: () => randomUUID(),
  players: () => [],
  sessionId: () => 'ses_never',
  roundId: () => 'round-1',
  transactionId: () => randomUUID(),
  betTransactionId: () => randomUUID(),
  kind: () => 'win',
  win: () => '0.00',
  standing: () => null,
}
/** In whose name a provider's calls are. */
const provider = { id: 'prv_someone', bodyDigest: '00'.repeat(32) }

const inputOf = (operation: Operation, records: Tenant['records']): Input<Operation> =>
  fieldsOf(inputSchema(operation) as TObject, records)

function fieldsOf({ properties }: TObject, records: Tenant['records']): Record<string, unknown> {
  const given = Object.entries(properties).map(([field, schema]) => [
    field,
    records[field] ?? (field === 'bet' ? fieldsOf(schema as TObject, records) : others[field]?.()),
  ])
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

/** Every operation that is called for a brand, with who may call it. One that is added is tried without a change here. */
const called = allOperations.flatMap((operation) =>
  serviceNames
    .filter((service) => servicePermissions(service).publish.includes(rpcSubject(operation)))
    .map((caller) => ({ operation, caller, what: `${caller} calls ${operation.service}.${operation.id}` })),
)

/** @returns the reply, or the code of the refusal */
async function ask(
  { operation, caller }: { readonly operation: Operation; readonly caller: ServiceName },
  scope: Scope,
  records: Tenant['records'],
): Promise<unknown> {
  const rpc = new RpcClient(await bed.nats(caller))
  try {
    return await rpc.call(operation, { scope: { ...scope, provider }, input: inputOf(operation, records) })
  } catch (error) {
    if (error instanceof Rejection) return error.code
    throw error
  }
}

const effects = await Effects.watch(bed.sql('admin'))

for (const victim of victims) {
  const { scope, records } = victim
  const stranger = tenants.find((tenant) => tenant.scope.operatorId !== scope.operatorId) as Tenant
  const lies: Readonly<Record<string, Partial<Scope>>> = {
    'the other environment': { environment: scope.environment === 'sandbox' ? 'production' : 'sandbox' },
    'another operator': { operatorId: stranger.scope.operatorId },
    'another currency': { currency: 'USD' },
    'another time zone': { timeZone: 'Asia/Tokyo' },
  }
  t.test(`no call that says anything else of the brand of ${victim.name} is taken`, async (t) => {
    for (const call of called) {
      for (const [lie, said] of Object.entries(lies)) {
        const answer = await ask(call, { ...scope, ...said }, records)
        t.ok(answer === 'INTERNAL_ERROR' || answer === 'SANDBOX_ONLY', `${call.what} with ${lie}: ${answer}`)
        t.same(await effects.take(), [], 'and nothing is written')
      }
    }
  })
}

const recordIds = ['playerId', 'depositId', 'withdrawalId']
const never = { playerId: 'ply_never', depositId: 'dep_never', withdrawalId: 'wdr_never' }
/** Why a call about a record of another brand is not refused as one about a record that does not exist. */
const answered: Readonly<Record<string, string>> = {
  'payments.forgetDestinations': 'it cannot be refused, and forgets none of another brand',
  'payments.readDayDeposits': 'a sum that only players may ask for, which knows every player',
}

for (const victim of victims) {
  t.test(`in another brand the records of ${victim.name} are unknown, whoever asks`, async (t) => {
    for (const call of called) {
      const { operation, what } = call
      if (!recordIds.some((id) => id in inputSchema(operation).properties)) continue
      for (const { name, scope } of tenants.filter((tenant) => tenant !== victim)) {
        const answer = await ask(call, scope, victim.records)
        t.same(await effects.take(), [], `${what} in ${name}: nothing is written`)
        if (typeof answer === 'string' || `${operation.service}.${operation.id}` in answered) continue
        t.equal(operation.kind, 'query', `${what} in ${name}: refused`)
        t.same(answer, await ask(call, scope, { ...victim.records, ...never }), `${what} in ${name}: nothing is told`)
      }
    }
  })
}

t.test('the right scope is taken, so that it was the scope that was refused', async (t) => {
  for (const { scope, records } of victims) {
    for (const call of called) {
      const answer = await ask(call, scope, records)
      t.notOk(answer === 'INTERNAL_ERROR' || answer === 'VALIDATION_ERROR', `${call.what}: ${answer}`)
    }
  }
})

// Replies go to an inbox that every connection of the caller's user may hear: so does whoever has its password.

/** All that a second connection of a program hears of the replies to it. */
async function heardBy(user: 'console' | 'gateway'): Promise<{ text(): Promise<string> }> {
  const connection = await bed.nats(user)
  const heard: string[] = []
  connection.subscribe(`${inboxOf(user)}.>`, { callback: (_error, message) => void heard.push(message.string()) })
  await connection.flush()
  return {
    async text() {
      await connection.flush()
      return heard.join('\n')
    },
  }
}

t.test('who hears the replies to the team or to the gateway finds no secret and nobody unmasked', async (t) => {
  const [console, gateway] = await Promise.all([heardBy(teamConsole), heardBy('gateway')])
  const name = 'Casa Branca'
  const reason = 'agreed'
  const made = await alice.call(operations.gateway.createOperator, { input: { name, reason } })
  const owner = { operatorId: made.operatorId, environment: 'sandbox', reason } as const
  const issued = await alice.call(operations.gateway.issueCredential, { input: owner })
  const rotation = { input: owner, operationId: 'opn_rotation' }
  const rotated = await alice.call(operations.webhooks.rotateWebhookSecret, rotation)
  const template = 'https://documents.example.com/{reference}'
  const documents = await alice.call(operations.players.setDocumentUrl, { input: { ...owner, template } })
  const secrets = [
    made.sandbox.secret,
    made.sandbox.webhookSecret,
    issued.secret,
    rotated.webhookSecret,
    documents.secret,
  ]
  for (const secret of secrets) t.match(secret, /^.{20,}$/, 'the person reads it')
  const again = await alice.call(operations.webhooks.rotateWebhookSecret, rotation)
  t.equal(again.webhookSecret, null, 'the stored reply is sealed to the key of whoever asks again')

  const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, {
    key: made.sandbox.key,
    secret: made.sandbox.secret ?? '',
  })
  t.teardown(() => client.close())
  const { id: playerId } = expectStatus(await client.post('/players', playerRequest()), 201)
  const asked = { playerId, reason: 'the player asks' }
  const { cpf } = await alice.call(operations.players.showPlayer, { input: { ...asked, unmask: true } })
  t.match(cpf, /^\d{11}$/)
  const exported = await alice.call(operations.players.exportPlayer, { input: asked })
  t.match(JSON.stringify(exported), cpf)

  const toTeam = await console.text()
  t.equal(toTeam.match(/"sealed":/g)?.length, 7)
  t.match(await gateway.text(), /"sealed":/, 'the webhook secret of a new operator')
  for (const [index, secret] of [...secrets, cpf].entries()) t.notMatch(toTeam, String(secret), `${index}`)
  for (const secret of secrets) t.notMatch(await gateway.text(), String(secret))
})

t.test('a reply that must be sealed is made for nobody who does not say to which key', async (t) => {
  const sign = bed.issuer.signer('alice')
  const rpc = new RpcClient(await bed.nats(teamConsole), sign)
  const own = await newReplyKey()
  const offTheCurve = { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) } as const
  for (const sealTo of [undefined, offTheCurve]) {
    const input = { name: 'Casa Nova', reason: 'agreed' }
    const call = rpc.request(operations.gateway.createOperator, {
      input,
      ...(sealTo === undefined ? {} : { replyKey: { ...own, sealTo } }),
    })
    await t.rejects(call, { code: 'VALIDATION_ERROR', details: { in: 'headers', issues: [{ path: 'sealTo' }] } })
  }
  const none = alice.call(operations.gateway.getOperator, { input: { name: 'Casa Nova' } })
  await t.rejects(none, { code: 'OPERATOR_NOT_FOUND' })
})

t.test('sealed are the replies with what is shown once or masked otherwise, and no others', (t) => {
  const named = allOperations.filter((operation) => isReplySealed(operation, {}))
  t.same(named.map(({ service, id }) => `${service}.${id}`).sort(), [
    'gateway.createOperator',
    'gateway.issueCredential',
    'gateway.issueProviderKey',
    'payments.exportPlayer',
    'players.exportPlayer',
    'players.setDocumentUrl',
    'wallet.exportPlayer',
    'webhooks.provisionWebhook',
    'webhooks.rotateWebhookSecret',
  ])
  const mayUnmask = allOperations.filter(({ body }) => 'unmask' in body.properties)
  t.same(
    mayUnmask.filter((operation) => !isReplySealed(operation, { unmask: true })),
    [],
  )
  t.end()
})
