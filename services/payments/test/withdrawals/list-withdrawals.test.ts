import { defined, operations } from '@backoffice/contracts'
import { firstId } from '@backoffice/process'
import { allPages } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { listWithdrawals, sumWithdrawals, countWithdrawalQueue, withdrawalQueue } = operations.payments
const path = await moneyPath(t)
const production = path.in({ environment: 'production' })
const team = path.bed.team('alice')
const list = async (filter: object = {}) =>
  (await team.call(listWithdrawals, { input: { limit: 50, ...filter } })).data.map(({ id }) => id)
const idsOf = (withdrawals: readonly { readonly id: string }[]) => withdrawals.map(({ id }) => id)
const count = async (filter: object = {}) => (await team.call(countWithdrawalQueue, { input: filter })).data

// Before the first test: without one under way, the file would end here.
const atFirst = await count()
const playerId = await path.newPlayerWith('100.00')
const first = await path.requestWithdrawal(playerId)
const ofOther = await path.requestWithdrawal(await path.newPlayerWith('100.00'))
const live = await production.requestWithdrawal(await production.newPlayerWith('100.00'))
const last = await path.requestWithdrawal(playerId)

t.test('nothing waits: each queue of each environment has a line', async (t) => {
  const nothing = { waiting: 0, oldestAt: null }
  t.same(atFirst, [
    { environment: 'sandbox', status: 'under_review', ...nothing },
    { environment: 'sandbox', status: 'approved', ...nothing },
    { environment: 'production', status: 'under_review', ...nothing },
    { environment: 'production', status: 'approved', ...nothing },
  ])
})

t.test('withdrawals of all operators are listed, newest first, and nothing that nobody sees', async (t) => {
  const refused = path.requestWithdrawal(playerId, { amount: '9999.00' })
  await t.rejects(refused, { code: 'INSUFFICIENT_FUNDS' })
  t.same(await list(), idsOf([last, live, ofOther, first]))
})

t.test('each says who made its last change', async (t) => {
  const { data } = await team.call(listWithdrawals, { input: { environment: 'production', limit: 1 } })
  t.match(data, [{ id: live.id, changedBy: { kind: 'operator', name: path.scope.operatorId } }])
})

t.test('the list is filtered by operator, brand, environment, player, status and time', async (t) => {
  const { operatorId, brandId } = path.scope
  await path.cancel(ofOther.id)
  for (const [filter, found] of [
    [{ environment: 'production' }, [live]],
    [{ environment: 'sandbox' }, [last, ofOther, first]],
    [{ brandId }, [last, ofOther, first]],
    [{ operatorId, environment: 'production' }, [live]],
    [{ operatorId: 'op_other' }, []],
    [{ playerId }, [last, first]],
    [{ playerId, environment: 'production' }, []],
    [{ status: 'cancelled' }, [ofOther]],
    [{ operatorId, playerId, status: 'cancelled' }, []],
    [{ from: ofOther.createdAt, to: last.createdAt }, [live, ofOther]],
    [{ from: live.createdAt, environment: 'sandbox' }, [last]],
  ] as const)
    t.same(await list(filter), idsOf(found), JSON.stringify(filter))
})

t.test('the list is read page by page', async (t) => {
  const rows = await allPages((before) => team.call(listWithdrawals, { input: { limit: 1, ...defined({ before }) } }))
  t.same(idsOf(rows), await list())
})

t.test('the queues are counted by environment and status, with the oldest of each', async (t) => {
  t.same(await count({ environment: 'sandbox' }), [
    { environment: 'sandbox', status: 'under_review', waiting: 2, oldestAt: first.createdAt },
    { environment: 'sandbox', status: 'approved', waiting: 0, oldestAt: null },
  ])
  await production.decide('alice', live.id, 'approve')
  t.same(await count({ environment: 'production' }), [
    { environment: 'production', status: 'under_review', waiting: 0, oldestAt: null },
    { environment: 'production', status: 'approved', waiting: 1, oldestAt: live.createdAt },
  ])
  t.match(await team.call(listWithdrawals, { input: { environment: 'production', limit: 1 } }), {
    data: [{ id: live.id, approvedBy: 'alice', changedBy: { kind: 'team', name: 'alice' }, operatorName: null }],
  })
})

t.test(
  'without an operator, a player and a begin the list goes back 31 days; the queue keeps what waits',
  async (t) => {
    const old = path.in({ operatorId: 'op_old', brandId: 'brd_old' })
    const owner = await old.newPlayerWith('100.00')
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
    /** As if it had been requested then: its id has the time too. */
    const requestedAgo = async (days: number) => {
      const { id } = await old.requestWithdrawal(owner)
      const [agedId, at] = [firstId('wdr', daysAgo(days)), daysAgo(days).toISOString()]
      await path.bed.sql('admin').query(`
      begin;
      set local session_replication_role = replica;
      update payments.withdrawal set id = '${agedId}', created_at = '${at}', destination = 'ana@example.com',
        sealed_destination = null where id = '${id}';
      update payments.status_transition set record_id = '${agedId}' where record_id = '${id}';
      commit`)
      return agedId
    }
    const [recent, older, oldest] = [await requestedAgo(30), await requestedAgo(40), await requestedAgo(90)]
    await old.decideInSandbox(oldest, 'approve')
    const daysSince = (at: string | null | undefined) => Math.round((Date.now() - Date.parse(at ?? '')) / 86_400_000)
    const ofBrand = { brandId: 'brd_old' }
    t.same(await list(ofBrand), [recent])
    t.same(await list({ ...ofBrand, to: daysAgo(31).toISOString() }), [older])
    for (const whose of [{ operatorId: 'op_old' }, { playerId: owner }, { from: daysAgo(365).toISOString() }])
      t.same(await list({ ...ofBrand, ...whose }), [recent, older, oldest])

    const queued = async (status: 'under_review' | 'approved') =>
      idsOf((await team.call(withdrawalQueue, { input: { ...ofBrand, status, limit: 9 } })).data)
    t.same(await queued('under_review'), [older, recent])
    t.same(await queued('approved'), [oldest])
    const [toReview, toPay] = await count({ environment: 'sandbox' })
    t.same([toReview?.oldestAt, toPay?.oldestAt].map(daysSince), [40, 90])
  },
)

t.test('withdrawals add up, each status for itself; those of a queue however old they are', async (t) => {
  const of = path.in({ brandId: 'brd_sums', operatorId: 'op_sums' })
  const owner = await of.newPlayerWith('100.00')
  const [one, other, cancelled] = [
    await of.requestWithdrawal(owner, { amount: '10.00' }),
    await of.requestWithdrawal(owner, { amount: '20.00' }),
    await of.requestWithdrawal(owner, { amount: '5.00' }),
  ]
  await of.cancel(cancelled.id)
  await of.decideInSandbox(other.id, 'approve')
  const sum = async (filter: object = {}) => {
    const { data, isWhole } = await team.call(sumWithdrawals, { input: { operatorId: 'op_sums', ...filter } })
    t.equal(isWhole, true)
    return data.map(({ status, count: counted, amount, currency }) => `${status} ${counted} ${amount} ${currency}`)
  }
  const all = ['approved 1 20.00 BRL', 'cancelled 1 5.00 BRL', 'under_review 1 10.00 BRL']
  t.same(await sum(), all)
  t.same(await sum({ playerId: owner, status: 'cancelled' }), all.slice(1, 2))
  t.same(await sum({ to: one.createdAt }), [])
  t.same(await sum({ environment: 'production' }), [])
  t.same(await sum({ queue: 'approved' }), all.slice(0, 1))
  t.same(await sum({ queue: 'under_review' }), all.slice(2))
  const another = await of.newPlayerWith('100.00')
  await of.requestWithdrawal(another, { amount: '7.00' })
  t.same(await sum({ queue: 'under_review', playerId: another }), ['under_review 1 7.00 BRL'], 'of one player')
  t.same(await sum({ queue: 'under_review', status: 'cancelled' }), [], 'none of these waits')
})
