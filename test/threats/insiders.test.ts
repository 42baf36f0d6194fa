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
import { RpcClient } from '@backoffice/rpc'
import { DelegatedSigner, newSessionKey, PersonSigner, type TeamSigner } from '@backoffice/team-access/identity'
import {
  callersOf,
  type Fields,
  inputOf,
  isInputKnown,
  newDeposit,
  newWithdrawal,
  proposalOf,
  reconcile,
  richPlayer,
  seenWithdrawal,
  testBed,
  withSeen,
} from '@backoffice/test-kit'
import type { Msg } from '@nats-io/transport-node'
import t from 'tap'
import { Effects } from '../e2e/effects.ts'
import { balanceOf, operatorIn, sumOf } from '../journey.ts'
import { services } from '../services.ts'

// With the broker's passwords of the console and of a service, the ID tokens of two people who work, and the keys that they
// let read: what the console's cookies hold.

const bed = await testBed(t, services)
const alice = bed.team('alice')
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

const { operatorId, client } = await operatorIn(t, bed)
const by = callersOf(client, alice)
const { brands } = await alice.call(operations.gateway.getOperator, { input: { name: operatorId } })
const sandbox = brands.find(({ environment }) => environment === 'sandbox')
const { id: brandId = '', currency = '', timeZone = '' } = sandbox ?? {}
const scope: Scope = { operatorId, brandId, environment: 'sandbox', currency, timeZone }
const playerId = await richPlayer(by)
const depositId = await newDeposit(by)
const [toApprove, toPay] = [await newWithdrawal(by), await newWithdrawal(by, { approved: true })]
/** What one person of the team has asked for, and nobody has agreed to: a key of production. */
const proposed = { operatorId, environment: 'production', reason } as const
const { proposalId } = await proposalOf(alice.call(operations.gateway.issueCredential, { input: proposed }))
for (const service of serviceNames) {
  await alice.call(operations[service].listProposals, { input: { limit: 1 } })
  await (await bed.nats(service)).flush()
}
/** All that they do in earnest. */
const genuine = new Map([...heard].map(([service, messages]) => [service, [...messages]]))

const decision = async (withdrawalId: string, decided: 'approve' | 'pay') => ({
  ...(await seenWithdrawal(alice, withdrawalId)),
  decision: decided,
})

/** What nothing of the kind has to exist for. */
const anyOther: Fields = {
  ...{ proposalId, commandId: newId('cmd'), roundId: newId('rnd'), id: newId('dlv'), ids: [newId('dlv')] },
  ...{ states: ['failed'], since: new Date(0).toISOString(), restoredTo: new Date().toISOString(), operatorId },
  ...{ member: 'https://identity.test carol', brandId, providerId: 'prv_of_nobody', transactionId: 'stolen' },
}
/** Where one operation does several things, or is called as it was proposed. */
const special: Readonly<Record<string, readonly Fields[]>> = {
  issueCredential: [proposed, { operatorId, environment: 'sandbox' }],
  decideWithdrawal: [await decision(toApprove, 'approve'), await decision(toPay, 'pay')],
  adjustWallet: [{ playerId, amount: '1000000.00', reference: 'stolen', reason }],
  endSession: [{}],
}
async function inputsOf(operation: Operation): Promise<readonly Fields[]> {
  const { id, params, body } = operation
  const fields = Object.keys({ ...params.properties, ...body.properties }).filter((field) => field in anyOther)
  const own = isInputKnown(operation) ? {} : Object.fromEntries(fields.map((field) => [field, anyOther[field]]))
  return special[id] ?? [await inputOf(by, operation, own)]
}

const isOfTeam = ({ audience, kind, discloses }: Operation) =>
  audience === 'team' && (kind !== 'query' || discloses === true)
/** As it is shown; of what does not exist, as it could be. */
const couldBe = {
  ...{ depositId, playerId, environment: 'sandbox', amount: '10.00', currency: 'BRL' },
  ...{ type: 'deposit.confirmed', operation: 'adjustWallet', operationId: newId('opn') },
  ...{ providerId: 'prv_of_nobody', brandId, state: 'open', staked: '1.00', won: '0.00', maxWin: null, waiting: 1 },
}
const seenIn = (operation: Operation, input: object) =>
  withSeen(alice, operation, input as never).catch(() => ({ ...input, seen: seenOf(operation, couldBe as never) }))
interface Attempt {
  readonly operation: Operation
  readonly input: Fields
  readonly name: string
}
const calls: Attempt[] = []
for (const operation of allOperations.filter(isOfTeam))
  for (const input of await inputsOf(operation))
    calls.push({ operation, input: await seenIn(operation, input), name: `${operation.service}.${operation.id}` })

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

const isEnd = ({ operation }: Attempt) => operation.id === 'endSession'
const nobody = ['LOGIN_REQUIRED', 'SIGNATURE_REQUIRED']

const effects = await Effects.watch(bed.sql('admin'), serviceNames)
/**
 * Rows beside the trail, which tells of who is known and may not, and keeps their session. Of a player whom the preparation
 * has closed the operator is told half a minute later.
 */
const isBeside = /^(?:\w+\.(?:audit_entry|team_session)|players\.told_status): /
const caused = async () => (await effects.take()).filter((row) => !isBeside.test(row))

async function outcomeOf(signer: TeamSigner, { operation, input }: Attempt, approves?: string) {
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
  const before = await balanceOf(client, playerId)
  await rpc.call(operations.payments.confirmDeposit, { scope, input: { depositId } })
  t.same((await reconcile(alice)).differences, [])
  t.equal(sumOf([await balanceOf(client, playerId)]), sumOf([before, '10.00']))
})

t.test('what payments asks of the wallet by itself is named by reconciliation', async (t) => {
  const rpc = new RpcClient(await bed.nats('payments'))
  const effectiveAt = new Date().toISOString()
  const unknown = newId('dep')
  const credit = { playerId, depositId: unknown, amount: '900.00', effectiveAt }
  await rpc.call(operations.wallet.creditAccount, { scope, input: credit })
  await rpc.call(operations.wallet.captureHold, {
    scope,
    input: { playerId, withdrawalId: toApprove, effectiveAt },
  })
  await rpc.call(operations.wallet.releaseHold, { scope, input: { playerId, withdrawalId: toPay } })
  const named = (await reconcile(alice)).differences.map(({ subject }) => subject)
  for (const id of [unknown, toApprove, toPay])
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
