import { allOperations, type ExportedAuditEntry, type Operation, operations } from '@backoffice/contracts'
import { exportJWK } from 'jose'
import t, { type Test } from 'tap'
import {
  type CallToProve,
  fixedKeys,
  type IdentityRefused,
  identityOf,
  MachineSigner,
  newSessionKey,
  RecordedCalls,
  type RefusalReason,
  subjectAndReason,
} from '../../src/identity/index.ts'
import { isKeptWhole } from '../../src/identity/proof.ts'
import {
  because,
  deployment,
  type Given,
  issuer,
  machine,
  now,
  provider,
  seconds,
  settings,
  signed,
  stranger,
} from './people.ts'

const identity = identityOf(settings)
const jwkOf = async ({ publicKey }: typeof provider) => ({ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256' })
const known = await jwkOf(provider)
const calls = new RecordedCalls([{ identity, keys: fixedKeys([known]) }])
const { adjustWallet, listEntries } = operations.wallet
const { issueCredential } = operations.gateway

const correction = { playerId: 'ply_1', amount: '5.00', reference: 'ticket-1', reason: 'paid twice' }
const loginBefore = (at: Date) => ({ iat: seconds(at) - 60, auth_time: seconds(at) - 60 })
const bob = { sub: 'u2', email: 'bob@example.com' }

/** A call as a service would keep it. */
async function recorded(
  call: Omit<CallToProve, 'operation'>,
  {
    actor = 'alice@example.com',
    actorId = `${issuer} u1`,
    operation = adjustWallet,
    at = now,
    ...given
  }: Given & {
    readonly actor?: string
    readonly actorId?: string
    readonly operation?: Operation
    readonly at?: Date
  } = {},
): Promise<ExportedAuditEntry> {
  const as = { ...call, operation: `${operation.service}.${operation.id}` }
  const { idToken = null, proof } = await signed({ ...given, at, as, claims: { ...loginBefore(at), ...given.claims } })
  const { operationId, input } = call
  const said = { id: 'aud_1', at: at.toISOString(), actor, actorId, operation: operation.id, operationId, input }
  const shown = subjectAndReason(input as Record<string, unknown>)
  const recordedWith = { session: 'ses_1', tool: null, changes: null }
  return { ...said, ...shown, ...recordedWith, outcome: 'done', proof, idToken, anchor: known, proposal: null }
}
const verify = (entry: ExportedAuditEntry, takesTwo = false) => calls.verify(operationOf(entry), entry, { takesTwo })
const operationOf = ({ operation }: ExportedAuditEntry) => {
  const found = allOperations.find(({ id }) => id === operation)
  if (found === undefined) throw new Error(`there is no ${operation}`)
  return found
}
const adjustment = (given: Parameters<typeof recorded>[1] = {}) =>
  recorded({ operationId: 'opn_1', input: correction }, given)

const refusedBecause = async (t: Test, reason: RefusalReason, entry: ExportedAuditEntry, message: RegExp = /./) => {
  const refusal = await verify(entry).then(
    () => null,
    (error: IdentityRefused) => error,
  )
  t.match(refusal, { reason, message }, `${reason} ${message}`)
}

t.test('an entry verifies long after its session has ended', async (t) => {
  const caller = await verify(await adjustment())
  t.match(caller, { name: 'alice@example.com', kind: 'person', tool: 'console' })
  t.same([...caller.roles], ['finance'])
})

t.test('an entry that says something else than what was signed is refused', async (t) => {
  const entry = await adjustment()
  const anHourLater = new Date(now.getTime() + 3_600_000).toISOString()
  const otherAccount = /the account https:\S+ u1 has signed it/
  for (const [reason, said, message] of [
    ['no proof', { proof: null }],
    ['call', { input: { ...correction, amount: '500.00' } }],
    ['call', { operationId: 'opn_2' }],
    ['call', { operation: 'reverseTransfer' }],
    ['entry', { actor: 'bob@example.com' }, /alice@example.com has signed it/],
    ['entry', { actorId: `${issuer} u2` }, otherAccount],
    ['entry', { actorId: null }, otherAccount],
    ['entry', { at: anHourLater }, /another time/],
    ['signature', { proof: 'no.proof' }],
    ['entry', { reason: 'another' }, /subject or reason/],
    ['entry', { subject: 'ply_2' }, /subject or reason/],
    ['entry', { tool: 'command line' }, /signed with the console/],
    ['nonce', { idToken: (await adjustment()).idToken }],
  ] as const)
    await refusedBecause(t, reason, { ...entry, ...said }, message)
})

t.test('an entry rests on keys of the provider that are known, and the one that is not is named', async (t) => {
  const forged = await adjustment({ signedBy: stranger })
  await refusedBecause(t, 'ID token', forged)
  await refusedBecause(t, 'key', { ...forged, anchor: await jwkOf(stranger) }, /not known: "k1"/)
  const later = new RecordedCalls([
    { identity, keys: fixedKeys([{ ...known, kid: 'k2' }]) },
    { identity, keys: fixedKeys([known]) },
  ])
  t.ok(await later.verify(adjustWallet, await adjustment()), 'a key of before counts, where it is given')
})

t.test('whoever made the call had the role, and a fresh login where it takes one', async (t) => {
  await refusedBecause(t, 'role', await adjustment({ claims: { groups: ['kyc'] } }), /ROLE_REQUIRED/)
  const stale = { iat: seconds(now) - 600, auth_time: seconds(now) - 600 }
  await refusedBecause(t, 'role', await adjustment({ claims: stale }), /FRESH_LOGIN_REQUIRED/)
  const tried = { ...(await adjustment({ claims: { groups: ['kyc'] } })), outcome: 'ROLE_REQUIRED' }
  t.ok(await verify(tried), 'what was refused for it is as it should be')
  const reading = { operationId: 'opn_1', input: { playerId: 'ply_1', limit: 10 } }
  t.ok(await verify(await recorded(reading, { operation: listEntries, claims: stale })))
})

t.test('what the console read in the name of a person is proven, and what it did is not', async (t) => {
  const delegation = {}
  const reading = { operationId: 'opn_1', input: { playerId: 'ply_1', limit: 10 } }
  t.match(await verify(await recorded(reading, { operation: listEntries, delegation })), { delegated: true })
  const done = await adjustment({ delegation })
  await refusedBecause(t, 'role', done, /SIGNATURE_REQUIRED/)
  t.ok(await verify({ ...done, outcome: 'SIGNATURE_REQUIRED', input: {}, subject: null, reason: null }))
})

t.test('an entry of another deployment is none of this one', async (t) => {
  const elsewhere = { ...identity, deployment: 'https://console.staging.example.com' }
  const staging = new RecordedCalls([{ identity: elsewhere, keys: fixedKeys([known]) }])
  await t.rejects(staging.verify(adjustWallet, await adjustment()), because('deployment'))
})

t.test('of a call that was refused before it was read, the trail need not keep the input', async (t) => {
  const claims = { groups: ['kyc'] }
  const unread = { input: {}, subject: null, reason: null }
  t.ok(await verify({ ...(await adjustment({ claims })), outcome: 'ROLE_REQUIRED', ...unread }))
  await refusedBecause(t, 'call', { ...(await adjustment()), ...unread })
})

t.test('a machine is proven by its own key', async (t) => {
  const input = { playerId: 'ply_1', limit: 10 }
  const signer = new MachineSigner({ name: 'nightly', privateKey: machine.privateKey, deployment, now: () => now })
  const { proof } = await signer.sign({ operation: 'wallet.listEntries', operationId: 'opn_1', input })
  const read = await recorded({ operationId: 'opn_1', input }, { operation: listEntries })
  const entry = { ...read, actor: 'nightly', actorId: 'machine nightly', proof, idToken: null, anchor: null }
  t.match(await verify(entry), { kind: 'machine', name: 'nightly' })
  const another = new RecordedCalls([{ identity: { ...identity, machines: new Map() }, keys: fixedKeys([]) }])
  const anchor = await exportJWK(machine.publicKey)
  await t.rejects(another.verify(listEntries, entry), because('machine'))
  await t.rejects(
    another.verify(listEntries, { ...entry, anchor }),
    because('key'),
    'it was known, as the service says',
  )
})

/** What Alice proposed and Bob approved, as the entry of Bob's call. */
async function byTwo({
  approver = {},
  approves = 'prp_1',
  approvedInput = correction,
  proposedMsBefore = 0,
}: {
  readonly approver?: Parameters<typeof recorded>[1]
  readonly approves?: string
  readonly approvedInput?: typeof correction
  readonly proposedMsBefore?: number
} = {}): Promise<ExportedAuditEntry> {
  const proposed = await adjustment({ at: new Date(now.getTime() - proposedMsBefore) })
  const input = { ...approvedInput, reason: 'checked' }
  const given = { actor: 'bob@example.com', actorId: `${issuer} u2`, claims: bob, ...approver }
  const approved = await recorded({ operationId: 'opn_2', input, approves }, given)
  return { ...approved, proposal: { id: 'prp_1', proposed, approved } }
}

t.test('where two people are needed, both have signed the same', async (t) => {
  t.match(await verify(await byTwo(), true), { name: 'bob@example.com' })
  await t.rejects(verify(await adjustment(), true), because('two people'))
  const input = { operatorId: 'opr_1', environment: 'production', reason: 'r' }
  const given = { operation: issueCredential, claims: { groups: ['keys'] } }
  const alone = await recorded({ operationId: 'opn_1', input }, given)
  await refusedBecause(t, 'two people', alone, /nobody has approved it/)
  t.ok(await verify(await recorded({ operationId: 'opn_1', input: { ...input, environment: 'sandbox' } }, given)))

  const account = { actorId: `${issuer} u1`, claims: {} }
  const renamed = { ...account, actor: 'alice.b@example.com', claims: { email: 'alice.b@example.com' } }
  for (const approver of [{ ...account, actor: 'alice@example.com' }, renamed])
    await refusedBecause(t, 'two people', await byTwo({ approver }), /alice@example.com alone/)
  await refusedBecause(t, 'two people', await byTwo({ approves: 'prp_2' }), /has signed no approval of prp_1/)
  const other = { ...correction, amount: '6.00' }
  await refusedBecause(t, 'two people', await byTwo({ approvedInput: other }), /not the same/)
  await refusedBecause(t, 'role', await byTwo({ approver: { claims: { ...bob, groups: ['keys'] } } }))
  const { proposal, ...entry } = await byTwo()
  if (proposal === null) return
  await refusedBecause(t, 'two people', { ...entry, proposal: { ...proposal, approved: null } })
  await refusedBecause(t, 'no proof', {
    ...entry,
    proposal: { ...proposal, proposed: { ...proposal.proposed, proof: null } },
  })
  // Alice finishes what Bob has approved.
  t.ok(await verify({ ...(await adjustment({ key: await newSessionKey() })), proposal }))
})

t.test('an approval counts while the proposal is open', async (t) => {
  const hourMs = 3_600_000
  t.ok(await verify(await byTwo({ proposedMsBefore: 24 * hourMs - 1_000 }), true))
  await refusedBecause(t, 'two people', await byTwo({ proposedMsBefore: 24 * hourMs }), /prp_1 was not open when/)
  await refusedBecause(t, 'two people', await byTwo({ proposedMsBefore: -hourMs }), /prp_1 was not open when/)
})

t.test('of everything that changes something, the trail keeps what was signed', (t) => {
  const changing = allOperations.filter(({ audience, kind }) => audience === 'team' && kind !== 'query')
  t.same(
    changing.filter((operation) => !isKeptWhole(operation)).map(({ id }) => id),
    [],
  )
  t.end()
})

t.test('a correction without a second factor is proven only by settings that asked for none', async (t) => {
  const asking = { identity: identityOf({ ...settings, TEAM_STRONG_ACR: 'phr' }), keys: fixedKeys([known]) }
  const strict = new RecordedCalls([asking])
  const weak = await adjustment()
  t.match(await strict.faultOf(adjustWallet, weak), /not allowed to: FRESH_LOGIN_REQUIRED/)
  t.equal(await new RecordedCalls([asking, { ...asking, identity }]).faultOf(adjustWallet, weak), null)
  t.equal(await strict.faultOf(adjustWallet, await adjustment({ claims: { acr: 'phr' } })), null)
})
