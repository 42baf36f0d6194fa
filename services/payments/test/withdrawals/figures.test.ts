import { operations } from '@backoffice/contracts'
import { TestTime } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { ageWithdrawalQueue, listOddWithdrawals, timeWithdrawalDecisions, withdrawalQueue } = operations.payments
const hourMs = 3_600_000
const now = new Date('2026-03-10T12:00:00.000Z')
const time = new TestTime(new Date(now.getTime() - 48 * hourMs))
const path = await moneyPath(t, { time })
const production = path.in({ environment: 'production' })
const alice = path.bed.team('alice')
const environment = 'sandbox'
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * hourMs)

// Before the first test: without one under way, the file would end here.
const playerId = await path.newPlayerWith('1000.00')
const requested = new Map<number, string>()
for (const [hours, amount] of [
  [30, '10.00'],
  [24, '20.00'],
  [5, '40.00'],
  [2, '80.00'],
  [0.5, '160.00'],
] as const) {
  await time.set(hoursAgo(hours))
  requested.set(hours, (await path.requestWithdrawal(playerId, { amount })).id)
}
await time.set(now)
await production.requestWithdrawal(await production.newPlayerWith('100.00'))
const idOf = (hours: number) => requested.get(hours) ?? ''

t.test('what waits is counted and summed by age, of one environment', async (t) => {
  const bands = async () =>
    (await alice.call(ageWithdrawalQueue, { input: { environment } })).data.map(
      ({ status, currency, fromHours, waiting, amount }) => [status, currency, fromHours, waiting, amount],
    )
  t.same(await bands(), [
    ['under_review', 'BRL', 0, 1, '160.00'],
    ['under_review', 'BRL', 1, 1, '80.00'],
    ['under_review', 'BRL', 4, 1, '40.00'],
    ['under_review', 'BRL', 24, 2, '30.00'],
  ])
  await path.decide('alice', idOf(24), 'approve')
  t.same((await bands()).slice(3), [
    ['under_review', 'BRL', 24, 1, '10.00'],
    ['approved', 'BRL', 24, 1, '20.00'],
  ])
})

t.test('the queue shows what waits as long as is asked for', async (t) => {
  const queued = async (period: { readonly from?: string; readonly to?: string }) =>
    (await alice.call(withdrawalQueue, { input: { environment, limit: 9, ...period } })).data.map(({ id }) => id)
  const [day, four] = [hoursAgo(24).toISOString(), hoursAgo(4).toISOString()]
  t.same(await queued({ to: day }), [idOf(30)])
  t.same(await queued({ from: day, to: four }), [idOf(5)])
  t.same(await queued({ from: four }), [idOf(2), idOf(0.5)])
})

t.test('how long decisions took is known by the day on which they were made', async (t) => {
  const times = async (timeZone?: string) =>
    (await alice.call(timeWithdrawalDecisions, { input: { environment, ...(timeZone && { timeZone }) } })).data
  const [first, second] = [24, 30]
  t.same(await times(), [{ day: '2026-03-10', decided: 1, medianSeconds: first * 3_600, p90Seconds: first * 3_600 }])
  await path.decide('alice', idOf(30), 'reject')
  t.match(await times(), [{ decided: 2, medianSeconds: first * 3_600, p90Seconds: second * 3_600 }])
  // There it is the next day already.
  t.match(await times('Pacific/Kiritimati'), [{ day: '2026-03-11', decided: 2 }])
  await path.decideInSandbox(idOf(24), 'pay')
  t.match(await times(), [{ decided: 2 }], 'a payment is no decision')
  await time.set(new Date(now.getTime() + 30 * 24 * hourMs))
  t.same(await times(), [], 'of thirty days')
})

t.test('the five largest that wait are found, and destinations of three players or more', async (t) => {
  const there = path.in({ environment: 'production', brandId: 'brd_odd' })
  const odd = async () => await alice.call(listOddWithdrawals, { input: { environment: 'production' } })
  const request = async (amount: string, destination: string, owner?: string) =>
    there.requestWithdrawal(owner ?? (await there.newPlayerWith('5000.00')), { amount, destination })
  const owner = await there.newPlayerWith('5000.00')
  for (const amount of ['1000.00', '900.00', '800.00', '700.00']) await request(amount, 'own@example.com', owner)
  const first = await request('1.00', 'mule@example.com')
  const second = await request('2.00', 'mule@example.com')
  t.same((await odd()).shared, [], 'two players may be a couple')
  await there.decide('alice', second.id, 'reject')
  const third = await request('4.00', 'mule@example.com')
  const { data, shared } = await odd()
  t.same(shared, [{ withdrawalId: first.id, players: 3, waiting: 2, amount: '5.00', currency: 'BRL' }])
  t.match(
    data.map(({ amount }) => amount),
    ['1000.00', '900.00', '800.00', '700.00', /^\d+\.00$/],
  )
  t.equal(data.length, 5)
  t.match(data[0], { playerId: owner, playerName: /./, status: 'under_review', firstWithdrawal: true })
  await there.decide('alice', third.id, 'reject')
  await there.decide('alice', first.id, 'reject')
  t.same((await odd()).shared, [], 'nothing of it waits any more')
})

t.test('the largest is found, however many have waited longer', async (t) => {
  const { brandId, operatorId } = path.in({ environment: 'production', brandId: 'brd_many' }).scope
  const insert = (name: string, count: number, amount: number) =>
    path.bed.sql('admin').query(
      `insert into payments.withdrawal (id, operation_id, brand_id, operator_id, environment, time_zone, player_id, amount,
        currency, method, destination, status, version, created_at, updated_at)
      select 'wdr_' || $3 || n, 'opn_' || $3 || n, $1, $2, 'production', 'UTC', 'ply_many', $5, 'BRL', 'pix', 'x',
        'under_review', 1, now(), now() from generate_series(1, $4::int) n`,
      [brandId, operatorId, name, count, amount],
    )
  // In the order of their ids they come before and behind all others.
  await insert('0', 2_000, 1)
  await insert('z', 1, 1_000_000_000)
  const { data } = await alice.call(listOddWithdrawals, { input: { environment: 'production' } })
  t.equal(data[0]?.id, 'wdr_z1')
  t.equal(data.length, 5)
})
