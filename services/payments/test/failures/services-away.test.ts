import { hash, randomUUID } from 'node:crypto'
import { defined, operations } from '@backoffice/contracts'
import { allPages, eventually, refusal, seenWithdrawal } from '@backoffice/test-kit'
import t from 'tap'
import { listQueue, listWithdrawals as listRows } from '../../src/withdrawals/records.ts'
import { shownListed } from '../../src/withdrawals/views.ts'
import { moneyPath, outcomes } from '../money-path.ts'

const one = { DATABASE_POOL_MAX: 1 }
const path = await moneyPath(t, { config: { payments: one, players: one, wallet: one } })

let { wallet } = path.bed.services

/** What a record still has to send, in its order. */
const unsent = 'select name from outbox where aggregate = $1 order by aggregate_seq'

t.test('without the wallet a confirmation is not over: 503, still pending for everyone, and no event', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const { id } = await path.createDeposit(playerId)
  const operationId = randomUUID()
  const team = path.bed.team('alice')
  const input = { depositId: id }
  await wallet.drain()
  t.equal(await refusal(path.confirm(id, operationId)), 'SERVICE_UNAVAILABLE')

  const shown = await team.call(operations.payments.showDeposit, { input })
  t.match(shown, { status: 'pending', confirmedAt: null, version: 1, settling: true })
  t.equal(shown.transitions.length, 1)
  const listed = async (filter: object = {}) =>
    (await team.call(operations.payments.listDeposits, { input: { playerId, limit: 9, ...filter } })).data
  t.match(await listed(), [{ id, status: 'pending', confirmedAt: null, version: 1, settling: true }])
  t.match(await listed({ status: 'pending' }), [{ id, status: 'pending' }], 'a filter finds what is shown')
  t.same(await listed({ status: 'confirmed' }), [])
  t.same(await path.rows(unsent, [id]), [{ name: 'wallet.creditAccount' }, { name: 'deposit.confirmed' }])

  // Others wait for the wallet: none is accepted, and none is told a status that is not true yet.
  const others = outcomes([path.fail(id), path.confirm(id)])
  const behind = outcomes([path.fail('dep_unknown'), path.confirm('dep_unknown')])
  t.same(await Promise.race([others, behind]), { DEPOSIT_NOT_FOUND: 2 }, 'who came later has an answer')
  wallet = await path.bed.start('wallet')
  t.same(await others, { DEPOSIT_NOT_PENDING: 2 })
  t.match(await path.confirm(id, operationId), { status: 'confirmed' })
  t.equal(await path.balance(playerId), '10.00 / 10.00')
  await eventually(async () => (await path.rows(unsent, [id])).length === 0)
  t.match(await team.call(operations.payments.showDeposit, { input }), { status: 'confirmed', settling: false })
  t.match(await listed({ status: 'confirmed' }), [{ id, status: 'confirmed' }])
  t.same(await listed({ status: 'pending' }), [])
})

t.test(
  'without the wallet a payment is not over: still approved for everyone, and a cancellation is still refused',
  async (t) => {
    const playerId = await path.newPlayerWith('100.00')
    const digest = hash('sha256', playerId, 'base64url')
    const key = { digest, request: digest, until: new Date(Date.now() + 3_600_000).toISOString() }
    const requested = () => path.requestWithdrawal(playerId, {}, randomUUID(), key)
    const { id } = await requested()
    const approved = await path.decideInSandbox(id, 'approve')
    await wallet.drain()
    t.equal(await refusal(path.decideInSandbox(id, 'pay')), 'SERVICE_UNAVAILABLE')
    t.same(await path.getWithdrawal(id), approved)
    t.equal(await refusal(requested()), 'SERVICE_UNAVAILABLE', 'nor is the request replayed with `paid`')
    const waiting = [{ name: 'wallet.captureHold' }, { name: 'withdrawal.status_changed' }]
    t.same(await path.rows(unsent, [id]), waiting, 'whoever hears `paid` finds the money debited')
    const input = { withdrawalId: id }
    const team = path.bed.team('alice')
    const shown = await team.call(operations.payments.showWithdrawal, { input })
    t.match(shown, { status: 'approved', version: 2, settling: true })
    t.equal(shown.transitions.length, 2)
    const seen = await seenWithdrawal(team, id)
    const fail = (withdrawalId: string) =>
      team.call(operations.payments.decideWithdrawal, { input: { ...seen, withdrawalId, decision: 'fail' } })
    const failing = t.rejects(fail(id), {
      code: 'WITHDRAWAL_INVALID_STATE',
      details: { withdrawalId: id, status: 'paid' },
    })
    const first = await Promise.race([failing, refusal(fail('wdr_unknown'))])
    t.equal(first, 'WITHDRAWAL_NOT_FOUND', 'nobody is told `paid` yet, though who came later has an answer')
    wallet = await path.bed.start('wallet')
    await failing
    t.match(await requested(), { id, status: 'paid' })
    t.equal(await path.balance(playerId), '90.00 / 90.00')
  },
)

t.test('without the wallet withdrawals are listed under the status that is shown, and wait for nobody', async (t) => {
  const { listWithdrawals, countWithdrawalQueue } = operations.payments
  const team = path.bed.team('alice')
  const playerId = await path.newPlayerWith('100.00')
  const request = async () => (await path.requestWithdrawal(playerId)).id
  const names = ['paid', 'failed', 'rejected', 'cancelled', 'approved', 'under_review'] as const
  const ids = { paid: '', failed: '', rejected: '', cancelled: '', approved: '', under_review: '' }
  const becomes = (id: string) => names.find((name) => ids[name] === id)
  for (const name of names) ids[name] = await request()
  for (const name of ['paid', 'failed', 'approved'] as const) await path.decideInSandbox(ids[name], 'approve')

  /** What is found under a status, newest first, page by page: what it becomes, and how it is shown. */
  const found = async (status: (typeof names)[number]) => {
    const rows = await allPages((before) =>
      team.call(listWithdrawals, { input: { playerId, status, limit: 1, ...defined({ before }) } }),
    )
    return rows.map((row) => [becomes(row.id), row.status, row.settling] as const)
  }
  const { teamReader } = path.bed.services.payments.db
  const isQueueOfOpen = async () => {
    // The operation itself needs the wallet, for balances.
    for (const status of ['under_review', 'approved'] as const) {
      const waiting = await listQueue(teamReader, { status, limit: 9 })
      t.same(
        waiting.map(({ id }) => becomes(id)),
        [status],
      )
    }
    const { data: counted } = await team.call(countWithdrawalQueue, { input: { environment: 'sandbox' } })
    t.match(counted, [
      { status: 'under_review', waiting: 1 },
      { status: 'approved', waiting: 1 },
    ])
  }

  await wallet.drain()
  const decided = await Promise.all([
    refusal(path.decideInSandbox(ids.paid, 'pay')),
    refusal(path.decide('alice', ids.failed, 'fail')),
    refusal(path.decideInSandbox(ids.rejected, 'reject')),
    refusal(path.cancel(ids.cancelled)),
  ])
  t.same(new Set(decided), new Set(['SERVICE_UNAVAILABLE']))

  t.same(await found('approved'), [
    ['approved', 'approved', false],
    ['failed', 'approved', true],
    ['paid', 'approved', true],
  ])
  t.same(await found('under_review'), [
    ['under_review', 'under_review', false],
    ['cancelled', 'under_review', true],
    ['rejected', 'under_review', true],
  ])
  for (const name of ['paid', 'failed', 'rejected', 'cancelled'] as const) t.same(await found(name), [], name)
  await isQueueOfOpen()

  // What was found under a status is shown under it, though the wallet may finish before it is shown.
  const listed = await listRows(teamReader, { playerId, status: 'approved', limit: 9 })
  wallet = await path.bed.start('wallet')
  await eventually(async () => (await found('approved')).length === 1)
  const shown = await shownListed(teamReader, listed)
  t.same(new Set(shown.map(({ status }) => status)), new Set(['approved']))

  await eventually(async () => (await found('under_review')).length === 1)
  for (const name of names) t.same(await found(name), [[name, name, false]])
  await isQueueOfOpen()
})

t.test('without players nothing begins; what has begun can be ended', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const { id } = await path.createDeposit(playerId)
  const withdrawal = await path.requestWithdrawal(playerId)
  await path.bed.services.players.drain()
  t.equal(await refusal(path.createDeposit(playerId)), 'SERVICE_UNAVAILABLE')
  t.equal(await refusal(path.requestWithdrawal(playerId)), 'SERVICE_UNAVAILABLE')
  t.match(await path.confirm(id), { status: 'confirmed' })
  t.match(await path.cancel(withdrawal.id), { status: 'cancelled' })
})
