import { randomUUID } from 'node:crypto'
import {
  allOperations,
  type Input,
  type Operation,
  operations,
  Rejection,
  rpcSubject,
  type Scope,
  type ServiceName,
  serviceNames,
  servicePermissions,
} from '@backoffice/contracts'
import { inputSchema, RpcClient } from '@backoffice/rpc'
import { OperatorClient, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { createDeposit, expectStatus, fund, playerRequest } from '../journey.ts'
import { services } from '../services.ts'
import { Effects } from './effects.ts'

// What a taken-over service, or a stolen password of the broker, may say: each operation, by each service that may call it,
// with a scope that is not that of the brand, and with the right scope of another brand than the record's.

const bed = await testBed(t, services)
const alice = bed.team('alice')

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
      const player = expectStatus(await client.post('/players', playerRequest()), 201)
      const { id: playerId, externalId } = player
      const approved = { playerId, submission: null, status: 'aprovado', reason: 'documents match' } as const
      await alice.call(operations.players.decideKyc, { input: approved })
      await fund(client, playerId, '50.00')
      const request = { amount: '10.00', currency, method: 'pix', destination: 'ana@example.com' }
      const { id: withdrawalId } = expectStatus(await client.post(`/players/${playerId}/withdrawals`, request), 201)
      const { id: depositId } = await createDeposit(client, playerId, '10.00')
      // A decision of the sandbox would change it.
      await alice.call(operations.players.decideKyc, { input: { ...approved, status: 'reprovado' } })
      const scope = { operatorId, brandId, environment, currency, timeZone }
      const records = { playerId, depositId, withdrawalId, externalId, operatorIds: [operatorId] }
      return { name: `${name} in ${environment}`, scope, records }
    }),
  )
}
const tenants = [...(await newTenants('Casa Azul')), ...(await newTenants('Casa Verde'))]

/** What else operations take. */
const others: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(Object.entries(playerRequest()).map(([field, value]) => [field, () => value])),
  documentType: () => 'rg',
  reference: () => 'doc-1',
  gameId: () => 'fortune-reels',
  status: () => 'aprovado',
  decision: () => 'approve',
  reason: () => 'as it was agreed',
  amount: () => '10.00',
  currency: () => 'BRL',
  method: () => 'pix',
  destination: () => 'attacker@example.com',
  externalReference: () => randomUUID(),
  effectiveAt: () => new Date().toISOString(),
  operatorName: () => 'Casa Azul',
  abandonedOperationId: () => randomUUID(),
  players: () => [],
}

function inputOf(operation: Operation, records: Tenant['records']): Input<Operation> {
  const fields = Object.keys(inputSchema(operation).properties)
  const given = fields.map((field) => [field, records[field] ?? others[field]?.()])
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
    return await rpc.call(operation, { scope, input: inputOf(operation, records) })
  } catch (error) {
    if (error instanceof Rejection) return error.code
    throw error
  }
}

const effects = await Effects.watch(bed.sql('admin'))

for (const victim of tenants) {
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

for (const victim of tenants) {
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
  for (const { scope, records } of tenants) {
    for (const call of called) {
      const answer = await ask(call, scope, records)
      t.notOk(answer === 'INTERNAL_ERROR' || answer === 'VALIDATION_ERROR', `${call.what}: ${answer}`)
    }
  }
})
