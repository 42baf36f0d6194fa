import { operations, Rejection } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import { proposalOf } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { correctByTwo, faults, postByTwo } from '../probe-services.ts'
import { bed, code, pass, refusal, time, trail } from '../team-bed.ts'

const { listAudit, listProposals, declineProposal } = operations.payments

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

t.test('nobody can turn a call into an approval on its way', async (t) => {
  const input = { recordId: 'turned', environment: 'production' }
  const { details } = await refusal(bed.team('alice').call(correctByTwo, { input }))
  const signer = bed.issuer.signer('bob', { now: () => time.now() })
  const turned = new RpcClient(await bed.nats('console'), {
    sign: ({ approves: _approves, ...call }) => signer.sign(call),
  })
  const approves = String(details?.proposalId)
  t.match(await refusal(turned.call(correctByTwo, { input, approves })), {
    code: 'LOGIN_REQUIRED',
    details: { reason: 'call' },
  })
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
