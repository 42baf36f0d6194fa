import { defined, type Operation, operations, Rejection } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import {
  type IdentityRefused,
  identityFrom,
  issuerKeys,
  type PersonSigner,
  RecordedCalls,
} from '@backoffice/team-access/identity'
import { allPages, proposalOf, TestTime, testBed } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { correct, correctByTwo, faults, payments, postByTwo, readPerson } from '../probe-services.ts'

let nowMs = Date.parse('2026-03-02T12:00:00Z')
const time = new TestTime(new Date(nowMs))
const pass = (ms: number) => {
  nowMs += ms
  return time.set(new Date(nowMs))
}
const bed = await testBed(t, { payments }, { time })
const refusal = (call: Promise<unknown>): Promise<Rejection> =>
  call.then(
    (reply) => Promise.reject(new Error(`it was done: ${JSON.stringify(reply)}`)),
    (error) => error as Rejection,
  )
const code = async (call: Promise<unknown>) => (await refusal(call)).code

async function trail(subject: string) {
  const { data } = await bed.team('auditor').call(operations.payments.listAudit, { input: { limit: 100, subject } })
  return data.map(({ actor, operation, outcome, reason }) => ({ actor, operation, outcome, reason })).reverse()
}

const { listAudit, exportAudit, listProposals, listSessions, declineProposal } = operations.payments
const probed: Readonly<Record<string, Operation>> = { decideWithdrawal: correct, correctByTwo, postByTwo, readPerson }

const correction = (recordId: string) => ({ recordId, brandId: 'brd_1', secretNote: 'x', reason: 'a typo' })

t.test("a call that nobody signed, or somebody else, is nobody's", async (t) => {
  const input = correction('unsigned')
  const console = await bed.nats('console')
  const callAs = (sign: PersonSigner['sign'], of = input) =>
    new RpcClient(console, { sign }).call(correct, { input: of })
  const reasonOf = async (call: Promise<unknown>) => (await refusal(call)).details?.reason
  const alice = bed.issuer.signer('alice', { now: () => time.now() })

  t.equal(await reasonOf(callAs(async () => ({ idToken: undefined, proof: '' }))), 'no proof')
  t.equal(await reasonOf(callAs((call) => alice.sign({ ...call, input: { ...input, recordId: 'mine' } }))), 'call')
  const anyProof = await alice.sign({ operation: 'any', operationId: 'opn_any', input: {} })
  t.equal(await reasonOf(callAs(async () => anyProof, correction('\ud83d'))), 'call', 'half a character')

  const { rows } = await bed.sql('admin').query("select from payments.record where id in ('unsigned', 'mine')")
  t.same(rows, [], 'nothing was done')
  t.same(await trail('unsigned'), [], 'and anybody could fill the trail with such calls')
  t.same(await callAs((call) => alice.sign(call)), { count: 1 })
})

t.test('who has none of the roles is refused, and the trail says that they tried', async (t) => {
  const input = correction('roles')
  const { code, details } = await refusal(bed.team('support').call(correct, { input }))
  t.same({ code, details }, { code: 'ROLE_REQUIRED', details: { roles: ['finance'] } })
  t.same(await bed.team('finance').call(correct, { input }), { count: 1 })
  t.same(await trail('roles'), [
    { actor: 'support', operation: 'decideWithdrawal', outcome: 'ROLE_REQUIRED', reason: 'a typo' },
    { actor: 'finance', operation: 'decideWithdrawal', outcome: 'done', reason: 'a typo' },
  ])
})

t.test('the trail keeps what proves a call', async (t) => {
  const call = { input: { ...correction('proven'), secretNote: 'hush' }, operationId: newId('opn') }
  for (let attempt = 0; attempt < 2; attempt++) await bed.team('alice').call(correct, call)
  const { rows } = await bed.sql('admin').query(
    `select a.actor, a.reason, a.operation_id, a.input, a.tool, a.proof, s.person, s.kind, s.id_token from payments.audit_entry a
    join payments.team_session s on s.session = a.session and s.person = a.actor where a.subject = 'proven'`,
  )
  t.equal(rows.length, 1, 'a replay is not another action')
  t.match(rows, [{ reason: 'a typo', operation_id: call.operationId, input: { recordId: 'proven' } }])
  t.notMatch(JSON.stringify(rows), /hush/)
  t.match(rows, [
    { actor: 'alice', tool: 'command line', proof: /^[\w-]+\.[\w-]+\.[\w-]+$/, person: 'alice', kind: 'person' },
  ])
  t.match(rows[0].id_token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  await t.rejects(bed.sql('payments').query('delete from team_session'), /permission denied/)
})

/** What an auditor takes away, verified by the provider's key and the settings alone. */
async function verified(since: Date) {
  await pass(120_000)
  const input = { from: since.toISOString(), to: new Date(time.now().getTime() - 60_000).toISOString(), limit: 2 }
  const auditor = bed.team('auditor')
  const entries = await allPages((cursor) => auditor.call(exportAudit, { input: { ...input, ...defined({ cursor }) } }))
  const identity = identityFrom(bed.issuer.settings)
  const calls = new RecordedCalls([{ identity, keys: issuerKeys(identity) }])
  return Promise.all(
    entries.map(async ({ proposal, ...entry }) => {
      const { actor, operation, outcome } = entry
      const verdict = await calls.verify(probed[operation] ?? listAudit, { ...entry, proposal }).then(
        () => 'proven',
        ({ reason }: IdentityRefused) => `not proven: ${reason}`,
      )
      return `${actor} ${operation} ${outcome}${proposal === null ? '' : ' by two'}: ${verdict}`
    }),
  )
}

t.test('an exported trail proves itself, with all who took part', async (t) => {
  await pass(1_000)
  const since = time.now()
  await bed.team('alice').call(correct, { input: correction('exported') })
  t.equal(await code(bed.team('support').call(correct, { input: correction('exported') })), 'ROLE_REQUIRED')
  const input = { recordId: 'exported', environment: 'production' }
  const { proposalId: approves } = await proposalOf(
    bed.team('alice').call(correctByTwo, { input: { ...input, reason: 'one' } }),
  )
  await bed.team('bob').call(correctByTwo, { input: { ...input, reason: 'two' }, approves })
  const posted = { recordId: 'exported', reference: 'exported' }
  const { proposalId } = await proposalOf(bed.team('alice').call(postByTwo, { input: posted }))
  faults.atWork.set('exported', () => new Error('the process died'))
  await refusal(bed.team('bob').call(postByTwo, { input: posted, approves: proposalId }))
  faults.atWork.delete('exported')
  await bed.team('alice').call(postByTwo, { input: posted })
  // With the rights of the service: what Alice has signed, for another record.
  await bed.sql('payments').query(
    `insert into audit_entry (id, at, actor, actor_id, operation, operation_id, input, outcome, session, tool, proof, proposal)
    select id || 'x', at, actor, actor_id, operation, operation_id, '{"recordId": "mine", "reference": "exported"}', outcome, session,
      tool, proof, proposal from audit_entry where operation = 'postByTwo' and outcome = 'done' order by id desc limit 1`,
  )
  t.same(await verified(since), [
    'alice decideWithdrawal done: proven',
    'support decideWithdrawal ROLE_REQUIRED: proven',
    'alice correctByTwo AWAITS_APPROVAL: proven',
    'bob correctByTwo done by two: proven',
    'alice postByTwo AWAITS_APPROVAL: proven',
    'alice postByTwo done by two: proven',
    'alice postByTwo done by two: not proven: call',
  ])
})

t.test('who may only read for a person changes nothing for them, and what it read proves itself', async (t) => {
  await pass(1_000)
  const since = time.now()
  const console = bed.team('alice', { delegated: true })
  t.equal(await code(console.call(correct, { input: correction('delegated') })), 'SIGNATURE_REQUIRED')
  const input = { recordId: 'delegated', environment: 'production', reason: 'r' }
  t.equal(await code(console.call(correctByTwo, { input })), 'SIGNATURE_REQUIRED')
  t.match(await console.call(listAudit, { input: { subject: 'delegated', limit: 5 } }), { data: [{}, {}] })
  await console.call(readPerson, { input: { playerId: 'ply_delegated' } })
  await bed.sql('payments').query(
    `insert into audit_entry (id, at, actor, actor_id, operation, operation_id, subject, reason, input, outcome, session, tool, proof)
    select id || 'x', at, actor, actor_id, operation, operation_id, subject, reason, input, 'done', session, tool, proof
    from audit_entry where operation = 'decideWithdrawal' and outcome = 'SIGNATURE_REQUIRED'`,
  )
  t.same((await verified(since)).sort(), [
    'alice correctByTwo SIGNATURE_REQUIRED: proven',
    'alice decideWithdrawal SIGNATURE_REQUIRED: proven',
    'alice decideWithdrawal done: not proven: role',
    'alice readPerson done: proven',
  ])
  const { rows } = await bed.sql('admin').query("select from payments.record where id = 'delegated'")
  t.same(rows, [])
})

/** With the rights of the service: Bob's refused approval becomes the one that carried the proposal out. */
async function forgeApproval(proposal: string) {
  const db = bed.sql('payments')
  const refusedOnes = "r where r.proposal = $1 and r.actor = 'bob' and r.outcome <> 'done'"
  await db.query(
    `update team_proposal p set state = 'approved', decided_by = r.actor, decided_by_id = r.actor_id, decided_at = r.at, decision_reason = r.reason,
      decided_operation_id = r.operation_id, decided_session = r.session, decided_proof = r.proof
    from (select * from audit_entry ${refusedOnes}) r where p.id = $1`,
    [proposal],
  )
  const { rowCount } = await db.query(
    `insert into audit_entry (id, at, actor, actor_id, operation, operation_id, subject, reason, input, outcome, session, tool, proof,
      proposal)
    select id || 'x', at, actor, actor_id, operation, operation_id, subject, reason, input, 'done', session, tool, proof, proposal
    from audit_entry ${refusedOnes}`,
    [proposal],
  )
  return rowCount
}

t.test(
  'an approval that was refused, or came to nothing before the proposal was declined, proves nothing',
  async (t) => {
    await pass(1_000)
    const since = time.now()
    const propose = async (recordId: string) => {
      const input = { recordId, environment: 'production' }
      const { proposalId: approves } = await proposalOf(bed.team('alice').call(correctByTwo, { input }))
      return { input, approves }
    }
    const decided = await propose('decided')
    await bed.team('carol').call(correctByTwo, decided)
    t.equal(await code(bed.team('bob').call(correctByTwo, decided)), 'PROPOSAL_NOT_OPEN')
    const declined = await propose('declined later')
    faults.atWork.set('declined later', () => new Rejection('TRANSFER_CONFLICT'))
    t.equal(await code(bed.team('bob').call(correctByTwo, declined)), 'TRANSFER_CONFLICT')
    faults.atWork.delete('declined later')
    await pass(3_600_000)
    await bed.team('carol').call(declineProposal, { input: { proposalId: declined.approves, reason: 'not agreed' } })
    for (const { approves } of [decided, declined]) t.equal(await forgeApproval(approves), 1)
    const lines = await verified(since)
    t.same(
      lines.filter((line) => line.startsWith('bob correctByTwo done')),
      Array(2).fill('bob correctByTwo done by two: not proven: two people'),
    )
  },
)

t.test('what wants a fresh login takes one of the last five minutes', async (t) => {
  const input = { recordId: 'fresh', environment: 'production', reason: 'r' }
  const late = bed.team('alice', { loggedInSecondsAgo: 301 })
  t.equal(await code(late.call(correctByTwo, { input })), 'FRESH_LOGIN_REQUIRED')
  t.same(await late.call(correctByTwo, { input: { ...input, environment: 'sandbox' } }), { count: 1 }, 'elsewhere')
  const fresh = bed.team('alice', { loggedInSecondsAgo: 299 })
  t.equal(await code(fresh.call(correctByTwo, { input })), 'AWAITS_APPROVAL')
})

t.test('what tells who a player is is recorded before it is told; and so is that there is none', async (t) => {
  await bed.team('support').call(readPerson, { input: { playerId: 'ply_read' } })
  t.same(await trail('ply_read'), [{ actor: 'support', operation: 'readPerson', outcome: 'done', reason: null }])
  t.equal(await code(bed.team('support').call(readPerson, { input: { playerId: 'nobody' } })), 'PLAYER_NOT_FOUND')
  t.match(await trail('nobody'), [{ outcome: 'PLAYER_NOT_FOUND' }])
})

t.test('who was here lately is listed by person, with the beginning of the latest session', async (t) => {
  const list = async (since: number) => {
    const input = { since: new Date(since).toISOString() }
    const { data } = await bed.team('auditor').call(listSessions, { input })
    return data.filter(({ name }) => name === 'finance')
  }
  await pass(3_600_000)
  const before = time.now().getTime()
  t.same(await list(before), [])
  // Each call of the bed is a session of its own.
  for (const reason of ['first', 'second']) {
    await pass(1_000)
    await bed.team('finance').call(correct, { input: { ...correction('sessions'), reason } })
  }
  const id = 'https://identity.test finance'
  t.same(await list(before), [{ name: 'finance', id, kind: 'person', latestSessionAt: time.now().toISOString() }])
  t.equal(
    await code(bed.team('finance').call(listSessions, { input: { since: '2020-01-01T00:00:00.000Z' } })),
    'ROLE_REQUIRED',
  )
})

async function proposals(t: Test, proposalId: unknown) {
  const input = { proposalId: String(proposalId), limit: 1 }
  const { data } = await bed.team('support').call(listProposals, { input })
  t.equal(data.length, 1)
  return data[0]
}

t.test('two people are two accounts at the provider with two names, however a name is written', async (t) => {
  const logged = ([sub, name]: readonly [sub: string, name: string]) =>
    bed.team('alice', { claims: { sub, preferred_username: name } })
  for (const [first, second, because] of [
    [['one', 'maria.silva'], ['one', 'maria.souza'], 'a marriage'],
    [['one', 'Maria.Silva@bank.example'], ['other', 'maria.silva@bank.example'], 'a corrected case'],
    [['one', 'ana@bank.example'], ['other', 'ana@bank.example '], 'a space'],
    [['one', 'jose\u0301'], ['other', 'jos\u00e9'], 'another way to write é'],
    [['one', 'ana'], ['other', '\uff41na'], 'a wide a'],
  ] as const) {
    const input = { recordId: `accounts-${because}`, environment: 'production' }
    const proposed = await refusal(logged(first).call(correctByTwo, { input }))
    const approves = String(proposed.details?.proposalId)
    t.equal(await code(logged(second).call(correctByTwo, { input, approves })), 'TWO_PEOPLE_REQUIRED', because)
    t.same(await bed.team('bob').call(correctByTwo, { input, approves }), { count: 1 })
  }
  for (const name of ['\u0440aypal', 'ana\u202e', 'a\u200bna', 'a\u0000na', ' ']) {
    const refused = await refusal(
      logged(['one', name]).call(correctByTwo, { input: { recordId: 'x', environment: 'production' } }),
    )
    t.match(refused, { code: 'LOGIN_REQUIRED', details: { reason: 'name' } }, JSON.stringify(name))
  }
  const { data } = await bed.team('auditor').call(listAudit, { input: { limit: 1, actor: 'maria.souza' } })
  t.match(data, [{ actor: 'maria.souza', actorId: 'https://identity.test one', outcome: 'TWO_PEOPLE_REQUIRED' }])
})

t.test('two people: the first call proposes, and somebody else carries it out with the same call, once', async (t) => {
  const input = { recordId: 'two', environment: 'production' }
  const propose = { input: { ...input, reason: 'asked for' }, operationId: newId('opn') }
  const proposed = await refusal(bed.team('alice').call(correctByTwo, propose))
  t.equal(proposed.code, 'AWAITS_APPROVAL')
  const approves = String(proposed.details?.proposalId)
  t.same((await refusal(bed.team('alice').call(correctByTwo, propose))).details, proposed.details, 'a retry')
  t.same((await refusal(bed.team('bob').call(correctByTwo, { input }))).details, proposed.details, 'the same proposal')
  t.match(await proposals(t, approves), {
    operation: 'correctByTwo',
    input,
    reason: 'asked for',
    proposedBy: 'alice',
    state: 'open',
    decidedBy: null,
  })

  t.equal(await code(bed.team('alice').call(correctByTwo, { input, approves })), 'TWO_PEOPLE_REQUIRED')
  t.equal(await code(bed.machine().call(correctByTwo, { input, approves })), 'TWO_PEOPLE_REQUIRED', 'a machine')
  const other = { ...input, recordId: 'other' }
  t.equal(await code(bed.team('bob').call(correctByTwo, { input: other, approves })), 'PROPOSAL_NOT_FOUND')
  t.equal(await code(bed.team('bob').call(correctByTwo, { input, approves: 'prp_none' })), 'PROPOSAL_NOT_FOUND')
  const approve = { input: { ...input, reason: 'checked' }, approves, operationId: newId('opn') }
  t.same(await bed.team('bob').call(correctByTwo, approve), { count: 1 })
  t.same(await bed.team('bob').call(correctByTwo, approve), { count: 1 }, 'a retry does nothing more')
  const late = await refusal(bed.team('carol').call(correctByTwo, { input, approves }))
  t.match(late, { code: 'PROPOSAL_NOT_OPEN', details: { state: 'approved', decidedBy: 'bob' } }, 'somebody was faster')
  t.match(await proposals(t, approves), { state: 'approved', decidedBy: 'bob', decisionReason: 'checked' })
  t.match(await trail('two'), [
    { actor: 'alice', outcome: 'AWAITS_APPROVAL', reason: 'asked for' },
    { actor: 'bob', outcome: 'AWAITS_APPROVAL' },
    { actor: 'alice', outcome: 'TWO_PEOPLE_REQUIRED' },
    { actor: 'nightly', outcome: 'TWO_PEOPLE_REQUIRED' },
    { actor: 'bob', outcome: 'PROPOSAL_NOT_FOUND' },
    { actor: 'bob', outcome: 'done', reason: 'checked' },
    { actor: 'carol', outcome: 'PROPOSAL_NOT_OPEN' },
  ])
  const { rows } = await bed.sql('admin').query("select id, count from payments.record where id in ('two', 'other')")
  t.same(rows, [{ id: 'two', count: 1 }])
})

t.test('of several who propose or approve at once, one does', async (t) => {
  const input = { recordId: 'race', environment: 'production' }
  const people = ['bob', 'carol', 'finance'] as const
  const proposed = await Promise.all(people.map((user) => refusal(bed.team(user).call(correctByTwo, { input }))))
  const ids = new Set(proposed.map(({ details }) => details?.proposalId))
  t.equal(ids.size, 1)
  const approves = String([...ids][0])
  const outcomes = await Promise.allSettled(
    people.map((user) => bed.team(user).call(correctByTwo, { input, approves })),
  )
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  const { rows } = await bed.sql('admin').query("select count from payments.record where id = 'race'")
  t.same(rows, [{ count: 1 }])
})

t.test('a proposal whose carrying out is refused stays open', async (t) => {
  const input = { recordId: 'refused', environment: 'production' }
  const { proposalId: approves } = await proposalOf(bed.team('alice').call(correctByTwo, { input }))
  faults.atWork.set('refused', () => new Rejection('TRANSFER_CONFLICT'))
  t.equal(await code(bed.team('bob').call(correctByTwo, { input, approves })), 'TRANSFER_CONFLICT')
  t.match(await proposals(t, approves), { state: 'open' })
  faults.atWork.delete('refused')
  t.same(await bed.team('carol').call(correctByTwo, { input, approves }), { count: 1 })
})

t.test('a proposal is declined by who may do what it proposes, or is over after a day', async (t) => {
  const input = { recordId: 'declined', environment: 'production' }
  const propose = async () => (await proposalOf(bed.team('alice').call(correctByTwo, { input }))).proposalId
  const proposalId = await propose()
  const decline = { input: { proposalId, reason: 'not agreed' } }
  t.equal(await code(bed.team('support').call(declineProposal, decline)), 'ROLE_REQUIRED')
  t.match(await bed.team('bob').call(declineProposal, decline), { state: 'declined' })
  t.equal(await code(bed.team('bob').call(declineProposal, decline)), 'PROPOSAL_NOT_OPEN')
  t.equal(await code(bed.team('bob').call(correctByTwo, { input, approves: proposalId })), 'PROPOSAL_NOT_OPEN')
  const second = await propose()
  t.not(second, proposalId)
  await pass(24 * 3_600_000)
  t.match(await proposals(t, second), { state: 'expired' })
  const late = await refusal(bed.team('bob').call(correctByTwo, { input, approves: second }))
  t.match(late, { code: 'PROPOSAL_NOT_OPEN', details: { state: 'expired' } })
  t.not(await propose(), second)
})

for (const how of ['approved', 'declined'] as const)
  t.test(`a proposal that somebody ${how} too late stays expired, for a call that began before too`, async (t) => {
    const input = { recordId: `${how} too late`, environment: 'production' }
    const { proposalId } = await proposalOf(bed.team('alice').call(correctByTwo, { input }))
    const approve = (user: 'bob' | 'carol') => bed.team(user).call(correctByTwo, { input, approves: proposalId })
    const decline = () => bed.team('bob').call(declineProposal, { input: { proposalId, reason: 'not agreed' } })
    const expired = { code: 'PROPOSAL_NOT_OPEN', details: { state: 'expired' } }
    await pass(24 * 3_600_000)
    t.match(await refusal(how === 'approved' ? approve('bob') : decline()), expired)
    await pass(-60_000)
    t.match(await refusal(approve('carol')), expired)
  })

t.test('what is idempotent by a reference may be finished by a retry, after a process died in between', async (t) => {
  const input = { recordId: 'posted', reference: 'ref-1' }
  const { proposalId: approves } = await proposalOf(bed.team('alice').call(postByTwo, { input }))
  faults.atWork.set('posted', () => new Error('the process died'))
  t.equal(await code(bed.team('bob').call(postByTwo, { input, approves })), 'INTERNAL_ERROR')
  faults.atWork.delete('posted')
  t.same(await bed.team('bob').call(postByTwo, { input, approves }), { count: 1 })
  t.same(await bed.team('alice').call(postByTwo, { input }), { count: 1 }, 'the first one sees that it is done')
  t.same(await bed.team('alice').call(postByTwo, { input: { recordId: 'sandbox-1', reference: 'ref-2' } }), {
    count: 1,
  })
})
