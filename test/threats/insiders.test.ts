// proof: makes every call of the team in every false way, beside each service that may be hostile at the same time.

import {
  allOperations,
  inboxOf,
  type Operation,
  operations,
  Rejection,
  replyInbox,
  type Scope,
  type ServiceName,
  seenOf,
  serviceNames,
  teamConsole,
  teamHeaders,
  teamSubject,
} from '@backoffice/contracts'
import { limitsMs, newId } from '@backoffice/process'
import { inputSchema, RpcClient } from '@backoffice/rpc'
import { DelegatedSigner, newSessionKey, PersonSigner, type TeamSigner } from '@backoffice/team-access/identity'
import {
  OperatorClient,
  proposalOf,
  reconcile,
  seenSubmission,
  seenWithdrawal,
  testBed,
  withSeen,
} from '@backoffice/test-kit'
import type { Msg } from '@nats-io/transport-node'
import t from 'tap'
import { Effects } from '../e2e/effects.ts'
import { createDeposit, expectStatus, fund, playerRequest } from '../journey.ts'
import { services } from '../services.ts'

// With the broker's passwords of the console and of a service, the ID tokens of two people who work, and the keys that they
// let read: what the console's cookies hold. The operator, the player and the money are those of production.

const bed = await testBed(t, services)
const alice = bed.team('alice')
const environment = 'production'
const reason = 'as it was agreed'

/** What people send to a service while they work, as whoever has its password hears it. */
const heard = new Map<ServiceName, Msg[]>()
for (const service of serviceNames) {
  const messages: Msg[] = []
  heard.set(service, messages)
  const connection = await bed.nats(service)
  connection.subscribe(teamSubject({ service, id: '*' }), {
    callback: (_error, message) => void messages.push(message),
  })
  await connection.flush()
}

const victim = await newVictim()
for (const service of serviceNames) {
  await alice.call(operations[service].listProposals, { input: { limit: 1 } })
  await (await bed.nats(service)).flush()
}
/** All that they do in earnest. */
const genuine = new Map([...heard].map(([service, messages]) => [service, [...messages]]))

async function newVictim() {
  const { operatorId } = await alice.call(operations.gateway.createOperator, { input: { name: 'Casa Azul' } })
  const { brands } = await alice.call(operations.gateway.getOperator, { input: { name: 'Casa Azul' } })
  const {
    id: brandId = '',
    currency = '',
    timeZone = '',
  } = brands.find((brand) => brand.environment === environment) ?? {}
  const scope: Scope = { operatorId, brandId, environment, currency, timeZone }
  const owner = { operatorId, environment, reason } as const
  const { key, secret } = await bed.agreed(operations.gateway.issueCredential, { input: owner })
  const other = await bed.agreed(operations.gateway.issueCredential, { input: { ...owner, reason: 'the next one' } })
  const url = 'https://operator.example/hook'
  await bed.agreed(operations.webhooks.setWebhookUrl, { input: { ...owner, url } })
  const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, { key, secret: secret ?? '' })
  t.teardown(() => client.close())
  const { id: playerId } = expectStatus(await client.post('/players', playerRequest()), 201)
  const approved = { playerId, submission: null, status: 'aprovado', reason } as const
  await alice.call(operations.players.decideKyc, { input: approved })
  await fund(client, playerId, '50.00')
  const request = { amount: '10.00', currency, method: 'pix', destination: 'ana@example.com' }
  const ask = async () => expectStatus(await client.post(`/players/${playerId}/withdrawals`, request), 201).id as string
  const [toApprove, toPay] = [await ask(), await ask()]
  const approval = { ...(await seenWithdrawal(alice, toPay)), decision: 'approve' } as const
  await alice.call(operations.payments.decideWithdrawal, { input: approval })
  const { id: candidate } = expectStatus(await client.post('/players', playerRequest()), 201)
  const submission = { documentType: 'rg', reference: 'doc-1' }
  expectStatus(await client.post(`/players/${candidate}/kyc/submissions`, submission), 201)
  const { id: depositId } = await createDeposit(client, playerId, '10.00')
  const { data } = await alice.call(operations.wallet.listEntries, { input: { playerId, limit: 5 } })
  const correction = { playerId, amount: '1000000.00', reference: 'proposed', reason }
  const { proposalId } = await proposalOf(alice.call(operations.wallet.adjustWallet, { input: correction }))
  const transferId = String(data[0]?.transferId)
  const { id: providerId } = await alice.call(operations.gateway.createProvider, {
    input: { name: 'Estudio Azul', reason },
  })
  const { key: providerKey } = await bed.agreed(operations.gateway.issueProviderKey, {
    input: { providerId, environment, reason },
  })
  return {
    scope,
    providerId,
    providerKey,
    playerId,
    candidate,
    toApprove,
    toPay,
    depositId,
    transferId,
    correction,
    proposalId,
    otherKey: other.key,
  }
}

const { playerId, candidate, scope, proposalId } = victim
const { operatorId, brandId } = scope
const common: Readonly<Record<string, unknown>> = {
  ...{ operatorId, brandId, environment, playerId, proposalId, reason },
  ...{ rateLimitPerMinute: 1_000_000, allowedAddresses: ['203.0.113.0/24'], gameId: 'fortune-reels', available: false },
  ...{ amount: '1000000.00', reference: 'stolen', transferId: victim.transferId, commandId: newId('cmd') },
  ...{
    url: 'https://evil.example/',
    template: 'https://evil.example/{reference}',
    id: newId('dlv'),
    ids: [newId('dlv')],
    fileId: newId('opn'),
    states: ['failed'],
    key: victim.otherKey,
  },
  ...{
    providerId: victim.providerId,
    grant: 'active',
    roundId: newId('rnd'),
    transactionId: 'stolen',
    maxWin: '1000000.00',
  },
  ...{ name: 'Casa do Mal', member: 'https://identity.test carol', replayProtection: 'on', dailyDepositLimit: '1.00' },
  ...{ since: new Date(0).toISOString(), restoredTo: new Date().toISOString(), until: '2999-01-01T00:00:00.000Z' },
}
const decision = async (withdrawalId: string, decided: 'approve' | 'pay') => ({
  ...(await seenWithdrawal(alice, withdrawalId)),
  decision: decided,
})

/** Where one operation does several things, or wants more than the names of its fields say. */
const special: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  decideKyc: [{ ...(await seenSubmission(alice, candidate)), status: 'aprovado', reason }],
  takeKycCase: [{ playerId: candidate }],
  decideWithdrawal: [await decision(victim.toApprove, 'approve'), await decision(victim.toPay, 'pay')],
  setPlayerStatus: [{ playerId, status: 'bloqueado', reason }],
  adjustWallet: [victim.correction, { ...victim.correction, reference: 'stolen' }],
  revokeProviderKey: [{ key: victim.providerKey, reason }],
  endSession: [{}],
}
function inputsOf(operation: Operation): readonly Readonly<Record<string, unknown>>[] {
  const fields = Object.keys(inputSchema(operation).properties).filter((field) => field in common)
  return special[operation.id] ?? [Object.fromEntries(fields.map((field) => [field, common[field]]))]
}

const isOfTeam = ({ audience, kind, discloses }: Operation) =>
  audience === 'team' && (kind !== 'query' || discloses === true)
/** As it is shown; of what does not exist, as it could be. */
const couldBe = {
  ...{ depositId: victim.depositId, playerId, environment, amount: '10.00', currency: 'BRL' },
  ...{ type: 'deposit.confirmed', operation: 'adjustWallet', operationId: newId('opn') },
  ...{ providerId: victim.providerId, brandId, state: 'open', staked: '1.00', won: '0.00', maxWin: null, waiting: 1 },
}
const seenIn = (operation: Operation, input: object) =>
  withSeen(alice, operation, input as never).catch(() => ({ ...input, seen: seenOf(operation, couldBe as never) }))
const calls = await Promise.all(
  allOperations.filter(isOfTeam).flatMap((operation) =>
    inputsOf(operation).map(async (input) => ({
      operation,
      input: await seenIn(operation, input),
      name: `${operation.service}.${operation.id}`,
    })),
  ),
)

const tenMinutesAgo = () => new Date(Date.now() - 600_000)

/** What the console's cookies hold of somebody, and what can be signed with it. */
async function signersOf(user: 'alice' | 'bob'): Promise<readonly (readonly [string, TeamSigner])[]> {
  const [own, delegate] = [await newSessionKey(), await newSessionKey()]
  const { deployment } = bed.issuer
  const idToken = bed.issuer.idToken(user, own)
  const delegation = await bed.issuer.delegation(own, delegate)
  const of = { idToken, deployment }
  const elsewhere: TeamSigner = {
    sign: (call) =>
      new PersonSigner({ ...of, key: own, tool: 'console' }).sign({ ...call, operation: 'wallet.listEntries' }),
  }
  return [
    ['no signature', { sign: async () => ({ idToken, proof: '' }) }],
    ['the key that may read', new DelegatedSigner({ ...of, key: delegate, delegation })],
    ['that key as if it were theirs', new PersonSigner({ ...of, key: delegate, tool: 'console' })],
    ['their signature of another call', elsewhere],
    ['their signature of ten minutes ago', new PersonSigner({ ...of, key: own, tool: 'console', now: tenMinutesAgo })],
  ]
}

/** What people have signed for calls of the same service, for another one. */
const replayed = (service: ServiceName): TeamSigner => ({
  sign: async () => {
    const { headers } = genuine.get(service)?.at(-1) ?? {}
    return { idToken: headers?.get(teamHeaders.idToken), proof: headers?.get(teamHeaders.proof) ?? '' }
  },
})

const isEnd = ({ operation }: (typeof calls)[number]) => operation.id === 'endSession'
const nobody = ['LOGIN_REQUIRED', 'SIGNATURE_REQUIRED']

const effects = await Effects.watch(bed.sql('admin'), serviceNames)
/** Rows beside the trail, which tells of who is known and may not, and keeps their session. */
const caused = async () => (await effects.take()).filter((row) => !/^\w+\.(audit_entry|team_session):/.test(row))

async function outcomeOf(signer: TeamSigner, { operation, input }: (typeof calls)[number], approves?: string) {
  const call = { input: input as never, ...(approves === undefined ? {} : { approves }) }
  return new RpcClient(await bed.nats(teamConsole), signer).call(operation, call).then(
    () => 'done',
    (error: unknown) => (error instanceof Rejection ? error.code : String(error)),
  )
}

t.test('what nobody has signed for it does nothing, whoever else is hostile', async (t) => {
  t.ok(calls.length > 40)
  const people = [...(await signersOf('alice')), ...(await signersOf('bob'))]
  for (const hostile of serviceNames)
    await t.test(`${hostile}`, async (t) => {
      const signers = [...people, [`what ${hostile} has heard`, replayed(hostile)] as const]
      for (const call of calls.filter(({ operation }) => operation.service === hostile))
        for (const [what, signer] of signers) {
          // Anybody may end the session that they have a key of.
          if (call.operation.delegable && what === 'the key that may read') continue
          const approves = call.operation.twoPeople === undefined ? [undefined] : [undefined, proposalId]
          for (const proposal of approves) {
            const outcome = await outcomeOf(signer, call, proposal)
            t.ok(nobody.includes(outcome), `${call.name} with ${what}: ${outcome}`)
          }
        }
      t.same(await caused(), [], 'and nothing is written')
    })
})

t.test('a call that somebody heard has no second effect, whoever sends it again', async (t) => {
  const connection = await bed.nats(teamConsole)
  for (const [service, messages] of genuine) {
    t.ok(messages.length > 0)
    for (const { subject, data, headers } of messages) {
      const reply = `${replyInbox(inboxOf(teamConsole), service)}.${newId('req')}`
      const again = { ...(headers === undefined ? {} : { headers }), noMux: true, reply, timeout: limitsMs.call }
      await connection.request(subject, data, again)
    }
    t.same(await caused(), [], `${messages.length} calls of ${service}`)
  }
})

t.test('what the gateway says that operators asked for is believed, as docs/security.md says', async (t) => {
  const rpc = new RpcClient(await bed.nats('gateway'))
  await rpc.call(operations.payments.confirmDeposit, { scope, input: { depositId: victim.depositId } })
  t.same((await reconcile(alice)).differences, [])
  t.match(await alice.call(operations.wallet.listEntries, { input: { playerId, limit: 5 } }), { available: '60.00' })
})

t.test('what payments asks of the wallet by itself is named by reconciliation', async (t) => {
  const rpc = new RpcClient(await bed.nats('payments'))
  const effectiveAt = new Date().toISOString()
  const depositId = newId('dep')
  const credit = { playerId, depositId, amount: '900.00', effectiveAt }
  await rpc.call(operations.wallet.creditAccount, { scope, input: credit })
  await rpc.call(operations.wallet.captureHold, {
    scope,
    input: { playerId, withdrawalId: victim.toApprove, effectiveAt },
  })
  await rpc.call(operations.wallet.releaseHold, { scope, input: { playerId, withdrawalId: victim.toPay } })
  const named = (await reconcile(alice)).differences.map(({ subject }) => subject)
  for (const id of [depositId, victim.toApprove, victim.toPay])
    t.ok(
      named.some((subject) => subject.includes(id)),
      id,
    )
})

t.test(
  'the same calls are taken when their people sign them, so that it was the signature that was missing',
  async (t) => {
    await effects.take()
    // The last one ends the sessions of whoever calls. What the provider says nobody signs here.
    const inOrder = [...calls].sort((one, other) => Number(isEnd(one)) - Number(isEnd(other)))
    const unlike = [...nobody, 'VALIDATION_ERROR', 'INTERNAL_ERROR']
    for (const call of inOrder.filter(({ operation }) => operation.byIdentityProvider !== true)) {
      const outcome = await outcomeOf(bed.issuer.signer('bob'), call)
      const isItsOwn = call.operation.rejects.some((code) => code === outcome)
      t.ok(isItsOwn || !unlike.includes(outcome), `${call.name}: ${outcome}`)
    }
    t.ok((await caused()).length > 20)
  },
)
