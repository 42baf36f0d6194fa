import { operations, sandboxAmounts, seenOfWithdrawal } from '@backoffice/contracts'
import { refusal, seenWithdrawal } from '@backoffice/test-kit'
import t from 'tap'
import { HeldReplies, moneyPath, outcomes } from '../money-path.ts'

const alone = { PAY_ALONE_UP_TO: '5.00' }
// Reconciliation judges by the same limit.
const path = await moneyPath(t, { config: { payments: alone, reconciler: alone } })
const production = path.in({ environment: 'production' })
const { bed } = path
const { decideWithdrawal, showWithdrawal } = operations.payments

/** What ends a withdrawal of 40.00 of 100.00, and what its event and the balance say then. */
const endings = [
  ['cancel gives the money back and tells the operator', [], 'cancelled', null],
  ['reject gives the money back, with the reason that the operator reads', ['reject'], 'rejected', 'the name differs'],
  ['a payment that goes wrong is failed by the team', ['approve', 'fail'], 'failed', 'the bank returned it'],
  ['the amount is debited only when it is paid, once', ['approve', 'pay'], 'paid', null],
] as const
for (const [title, decisions, status, reason] of endings)
  t.test(`how a withdrawal ends: ${title}`, async (t) => {
    const playerId = await path.newPlayerWith('100.00')
    const requested = await path.requestWithdrawal(playerId, { amount: '40.00' })
    const { id } = requested
    for (const decision of decisions) {
      t.equal(await path.balance(playerId), '100.00 / 60.00', `before ${decision}`)
      await path.decide('alice', id, decision, reason === null || decision === 'approve' ? {} : { reason })
    }
    const ended = status === 'cancelled' ? await path.cancel(id) : await path.getWithdrawal(id)
    const [reviewedAt, paidAt] = [ended.reviewedAt, status === 'paid' ? ended.updatedAt : null]
    t.same(ended, { ...requested, status, reason, updatedAt: ended.updatedAt, reviewedAt, paidAt })
    t.equal(reviewedAt === null, status === 'cancelled')
    t.equal(await path.balance(playerId), status === 'paid' ? '60.00 / 60.00' : '100.00 / 100.00')
    t.same(await path.ledgerTypes(playerId), [...(status === 'paid' ? ['WITHDRAWAL -40.00'] : []), 'DEPOSIT 100.00'])
    const previousStatus = decisions.length === 2 ? 'approved' : 'under_review'
    const data = { ...ended, previousStatus, version: Math.max(decisions.length, 1) + 1 }
    t.same((await path.events(id)).at(-1), { type: 'withdrawal.status_changed', data })
    t.equal(await refusal(path.decideInSandbox(id, 'pay')), 'WITHDRAWAL_INVALID_STATE')
  })

t.test('in production approving and paying one withdrawal take two people', async (t) => {
  const playerId = await production.newPlayerWith('100.00')
  const { id } = await production.requestWithdrawal(playerId)
  await production.decide('alice', id, 'approve')
  await t.rejects(production.decide('alice', id, 'pay'), { code: 'TWO_PEOPLE_REQUIRED' })
  for (const claims of [
    { preferred_username: 'alice.souza' },
    { sub: 'another-account', preferred_username: 'Alice ' },
  ]) {
    const same = bed.team('alice', { claims })
    const input = { ...(await seenWithdrawal(same, id)), decision: 'pay' } as const
    t.equal(await refusal(same.call(decideWithdrawal, { input })), 'TWO_PEOPLE_REQUIRED')
  }
  t.equal(await production.balance(playerId), '100.00 / 90.00')
  t.match(await production.decide('bob', id, 'pay'), { status: 'paid' })
  t.equal(await production.balance(playerId), '90.00 / 90.00')
})

/** Whether alice is told that it takes somebody else to pay. */
const shown = async (withdrawalId: string) =>
  (await bed.team('alice').call(showWithdrawal, { input: { withdrawalId } })).payTakesTwo

/** Of a player of production, alice has approved it. @returns its id */
async function approved(playerId: string, amount: string): Promise<string> {
  const { id } = await production.requestWithdrawal(playerId, { amount })
  await production.decide('alice', id, 'approve')
  return id
}

t.test(
  'up to an amount one person may approve and pay; the audit entry says so, and reconciliation agrees',
  async (t) => {
    const playerId = await production.newPlayerWith('100.00')
    const [small, large] = [await approved(playerId, '5.00'), await approved(playerId, '5.01')]
    t.same([await shown(small), await shown(large)], [false, true])
    t.match(await production.decide('alice', small, 'pay'), { status: 'paid' })
    await t.rejects(production.decide('alice', large, 'pay'), { code: 'TWO_PEOPLE_REQUIRED' })
    await production.decide('bob', large, 'pay')
    const changes = await path.rows<{ changes: readonly { field: string }[] }>(
      `select changes from audit_entry where subject = any($1) and input ->> 'decision' = 'pay' and outcome = 'done' order by at`,
      [[small, large]],
    )
    const paid = { field: 'status', before: 'approved', after: 'paid' }
    t.same(
      changes.map((row) => row.changes),
      [[paid, { field: 'payAloneUpTo', before: null, after: '5.00' }], [paid]],
    )
    t.same(await path.differences(), [])
  },
)

t.test('what one person pays alone for a player within a day counts together, at once too', async (t) => {
  const playerId = await production.newPlayerWith('100.00')
  const ids = await Promise.all(['3.00', '3.00', '3.00', '2.00'].map((amount) => approved(playerId, amount)))
  const small = ids.pop() ?? ''
  const second = await bed.start('payments')
  // What one process remembers is looked at below.
  t.teardown(() => second.drain())
  t.same(await outcomes(ids.map((id) => production.decide('alice', id, 'pay'))), { done: 1, TWO_PEOPLE_REQUIRED: 2 })
  t.same(await Promise.all(ids.map(shown)), [true, true, true])
  t.equal(await shown(small), false)
  t.match(await production.decide('alice', small, 'pay'), { status: 'paid' }, 'up to the limit')
  const ofOther = await approved(await production.newPlayerWith('100.00'), '5.00')
  t.match(await production.decide('alice', ofOther, 'pay'), { status: 'paid' }, 'another player')
  t.same(await path.differences(), [])
  const passed = (hours: number) =>
    bed
      .sql('admin')
      .query(
        'update payments.withdrawal set paid_at = paid_at - make_interval(hours => $2) where player_id = $1 and paid_at is not null',
        [playerId, hours],
      )
  await passed(23)
  t.same(await Promise.all(ids.map(shown)), [true, true, true], 'the day is not over')
  const renamed = bed.team('alice', { claims: { preferred_username: 'alice.souza' } })
  const payRenamed = async (id: string) => {
    const input = { ...(await seenWithdrawal(renamed, id)), decision: 'pay' } as const
    return renamed.call(decideWithdrawal, { input })
  }
  const refused = { TWO_PEOPLE_REQUIRED: 2, WITHDRAWAL_INVALID_STATE: 1 }
  t.same(await outcomes(ids.map(payRenamed)), refused, 'nor is it for her account under another name')
  await passed(2)
  t.same(await outcomes(ids.map((id) => production.decide('alice', id, 'pay'))), {
    done: 1,
    WITHDRAWAL_INVALID_STATE: 1,
    TWO_PEOPLE_REQUIRED: 1,
  })
})

t.test('of two payments by one person that wait for one transaction, the second sees the first', async (t) => {
  const replies = await HeldReplies.on(path)
  const playerId = await production.newPlayerWith('100.00')
  const { id: first } = await production.requestWithdrawal(playerId)
  const ids = [await approved(playerId, '3.00'), await approved(playerId, '3.00')]
  const alice = bed.team('alice')
  const inputs = await Promise.all(ids.map((id) => seenWithdrawal(alice, id)))
  const calls = await replies.gather(
    (operationId) => production.decide('bob', first, 'approve', { operationId }),
    () => inputs.map((seen) => alice.call(decideWithdrawal, { input: { ...seen, decision: 'pay' } })),
    () => alice.call(showWithdrawal, { input: { withdrawalId: 'wdr_unknown' } }),
  )
  t.same(await outcomes(calls), { done: 1, TWO_PEOPLE_REQUIRED: 1 })
})

t.test('a machine is no second person: what it pays counts as paid alone, whoever approved it', async (t) => {
  const playerId = await production.newPlayerWith('100.00')
  const payByMachine = async (withdrawalId: string) => {
    const input = { ...(await seenWithdrawal(bed.machine(), withdrawalId)), decision: 'pay' } as const
    return bed.machine().call(decideWithdrawal, { input })
  }
  const large = await approved(playerId, '5.01')
  t.equal(await refusal(payByMachine(large)), 'TWO_PEOPLE_REQUIRED')
  t.match(await payByMachine(await approved(playerId, '3.00')), { status: 'paid' }, 'up to an amount one is enough')
  t.equal(await refusal(payByMachine(await approved(playerId, '3.00'))), 'TWO_PEOPLE_REQUIRED', 'all together')
  t.match(await production.decide('bob', large, 'pay'), { status: 'paid' })
  const { id } = await path.requestWithdrawal(await path.newPlayerWith('100.00'))
  await path.decide('alice', id, 'approve')
  t.match(await payByMachine(id), { status: 'paid' }, 'in the sandbox it may')
})

t.test('a decision about something else than the person saw is refused, whichever field differs', async (t) => {
  const bob = bed.team('bob')
  const { id } = await production.requestWithdrawal(await production.newPlayerWith('100.00'), { amount: '90.00' })
  const seen = await seenWithdrawal(bob, id)
  const shown = await bob.call(showWithdrawal, { input: { withdrawalId: id } })
  const lies = {
    playerId: { playerId: 'ply_other' },
    amount: { amount: '1.00' },
    currency: { currency: 'USD' },
    destination: seenOfWithdrawal({ ...shown, destination: 'attacker@pix' }),
    method: seenOfWithdrawal({ ...shown, method: 'boleto' }),
  }
  const { withdrawalId, ...held } = seen
  for (const [status, decision] of [
    ['under_review', 'approve'],
    ['approved', 'pay'],
  ] as const) {
    for (const [field, lie] of Object.entries(lies)) {
      const input = { ...seen, ...lie, decision }
      const refused = bob.call(decideWithdrawal, { input })
      const details = { withdrawalId, seen: { ...held, ...lie }, held }
      await t.rejects(refused, { code: 'NOT_AS_SEEN', details }, `${decision} of another ${field}`)
    }
    t.equal((await production.getWithdrawal(id)).status, status)
    await production.decide(status === 'approved' ? 'bob' : 'alice', id, decision)
  }
  const audit = await path.rows<{ input: object }>(
    `select input from audit_entry where subject = $1 and operation = 'decideWithdrawal' and outcome = 'done' order by at`,
    [id],
  )
  t.same(
    audit,
    [{ input: { ...seen, decision: 'approve' } }, { input: { ...seen, decision: 'pay' } }],
    'what was signed',
  )
  t.notMatch(JSON.stringify(audit), 'ana@example.com')
})

t.test('the reserved amount fails on pay in the sandbox', async (t) => {
  const amount = sandboxAmounts.withdrawalFailsOnPay
  const playerId = await path.newPlayerWith('100.00')
  const { id } = await path.requestWithdrawal(playerId, { amount })
  await path.decideInSandbox(id, 'approve')
  t.match(await path.decideInSandbox(id, 'pay'), { status: 'failed', paidAt: null })
  t.equal(await path.balance(playerId), '100.00 / 100.00')
  t.match((await path.events(id)).at(-1)?.data, { status: 'failed', previousStatus: 'approved', version: 3 })
})

t.test('every transition says who, when and why, and the audit trail has what the team did', async (t) => {
  const { operatorId } = production.scope
  const { id } = await production.requestWithdrawal(await production.newPlayerWith('100.00'))
  await production.decide('alice', id, 'approve', { reason: 'documents match' })
  await production.decide('bob', id, 'pay')
  const shown = await bed.team('bob').call(showWithdrawal, { input: { withdrawalId: id } })
  t.match(shown.transitions, [
    { version: 1, from: null, to: 'under_review', at: shown.createdAt, by: { kind: 'operator', name: operatorId } },
    { version: 2, from: 'under_review', to: 'approved', by: { name: 'alice' }, reason: 'documents match' },
    { version: 3, from: 'approved', to: 'paid', at: shown.paidAt, by: { kind: 'team', name: 'bob' }, reason: null },
  ])
  const changed = (before: string, after: string) => [{ field: 'status', before, after }]
  const { data } = await bed.team('bob').call(operations.payments.listAudit, { input: { subject: id, limit: 10 } })
  t.match(
    data.filter(({ operation }) => operation === decideWithdrawal.id),
    [
      { actor: 'bob', outcome: 'done', reason: null, changes: changed('approved', 'paid') },
      { actor: 'alice', outcome: 'done', reason: 'documents match', changes: changed('under_review', 'approved') },
    ],
  )
  const sandboxed = await path.requestWithdrawal(await path.newPlayerWith('100.00'))
  await path.decideInSandbox(sandboxed.id, 'reject')
  const input = { withdrawalId: sandboxed.id }
  const { transitions } = await bed.team('bob').call(showWithdrawal, { input })
  t.match(transitions.at(-1), { to: 'rejected', by: { kind: 'sandbox', name: path.scope.operatorId } })
})

t.test("the sandbox's decision looks at the brand under the lock, whatever a record or a process says", async (t) => {
  const mistaken = path.in({ brandId: 'brd_mistaken' })
  const { id } = await mistaken.requestWithdrawal(await mistaken.newPlayerWith('100.00'))
  // Triggers keep it otherwise. The process goes on knowing the brand as one of the sandbox, and the row says so too.
  await bed
    .sql('admin')
    .query(
      "begin; set local session_replication_role = 'replica'; update payments.brand set environment = 'production' where id = 'brd_mistaken'; commit",
    )
  t.equal(await refusal(mistaken.decideInSandbox(id, 'approve')), 'INTERNAL_ERROR')
  t.match(await mistaken.getWithdrawal(id), { status: 'under_review' })
  await mistaken.decide('alice', id, 'approve')
  t.equal(await refusal(mistaken.decide('alice', id, 'pay')), 'TWO_PEOPLE_REQUIRED', 'two people, as in production')
})

t.test('the history has no decision of the sandbox about a withdrawal of production', async (t) => {
  const decisionOn = ({ id }: { readonly id: string }) =>
    path.rows(
      `insert into status_transition (record_id, version, to_status, at, by_kind, by_name, operation_id)
      values ($1, 2, 'approved', now(), 'sandbox', 'op_test', 'opn_forged') returning version`,
      [id],
    )
  await t.rejects(decisionOn(await production.requestWithdrawal(await production.newPlayerWith('10.00'))), {
    message: /^only in the sandbox/,
  })
  t.same(await decisionOn(await path.requestWithdrawal(await path.newPlayerWith('10.00'))), [{ version: 2 }])
})

t.test('the history cannot be changed, and records cannot be deleted', async (t) => {
  await path.requestWithdrawal(await path.newPlayerWith('100.00'))
  for (const statement of [
    `update status_transition set reason = 'other'`,
    'delete from status_transition',
    'delete from deposit',
    'delete from withdrawal',
  ]) {
    await t.rejects(bed.sql('payments').query(statement), /permission denied|records are kept/, statement)
    const qualified = statement.replace(/(update |from )/, '$1payments.')
    await t.rejects(bed.sql('admin').query(qualified), /append-only|records are kept/, `${qualified} by the superuser`)
  }
})
