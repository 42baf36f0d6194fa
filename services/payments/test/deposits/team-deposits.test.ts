import { defined, operations, sumRowsMax } from '@backoffice/contracts'
import { allPages, refusal } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { showDeposit, listDeposits, sumDeposits, readOpenRecords, forgetDestinations, showWithdrawal } =
  operations.payments
const path = await moneyPath(t)
const { scope, bed } = path
const { brandId } = scope
const team = bed.team('alice')

t.test('showDeposit finds a deposit by the id alone, and says who changed it, when and why', async (t) => {
  const { id } = await path.createDeposit(await path.newPlayer({ kyc: false }))
  const failed = await path.fail(id, { reason: 'expired' })
  const by = { kind: 'operator', name: scope.operatorId }
  const { transitions, ...shown } = await team.call(showDeposit, { input: { depositId: id } })
  t.same(shown, { ...failed, ...scope, version: 2, settling: false })
  t.equal(await refusal(team.call(showDeposit, { input: { depositId: 'dep_unknown' } })), 'DEPOSIT_NOT_FOUND')
  t.same(transitions, [
    { version: 1, from: null, to: 'pending', at: failed.createdAt, by, reason: null },
    { version: 2, from: 'pending', to: 'failed', at: failed.failedAt, by, reason: 'expired' },
  ])
})

t.test('listDeposits ends a page early where the texts are long, and goes on from there', async (t) => {
  const { brandId } = bed.scope({ brandId: 'brd_of_long_texts' })
  // The longest texts that an operator may send: of 4 bytes each character.
  await bed.sql('admin').query(
    `insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
      currency, method, status, failure_reason, version, created_at, failed_at)
    select 'dep_long_' || lpad(n::text, 4, '0'), $1, 'op', 'sandbox', 'UTC', 'ply_1', n || repeat('😀', 120), 100, 'BRL',
      repeat('😀', 64), 'failed', repeat('😀', 500), 2, now(), now() from generate_series(1, 500) n`,
    [brandId],
  )
  let pages = 0
  const rows = await allPages(async (before) => {
    const page = await team.call(listDeposits, { input: { brandId, limit: 1_000, ...defined({ before }) } })
    t.ok(Buffer.byteLength(JSON.stringify(page.data)) < 300_000)
    pages += 1
    return page
  })
  const ids = rows.map(({ id }) => id)
  t.ok(pages > 3)
  t.equal(ids.length, 500)
  t.same(ids, [...new Set(ids)].sort().reverse())
})

t.test('without a brand, a player and a begin, listDeposits goes back 31 days', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const [recent, older, oldest] = await Promise.all(
    [1, 2, 3].map(() => path.createDeposit(playerId, { method: 'old' })),
  )
  const age = `update payments.deposit set created_at = now() - $2::interval where id = $1`
  await bed.sql('admin').query(age, [recent?.id, '30 days'])
  await bed.sql('admin').query(age, [older?.id, '32 days'])
  await bed.sql('admin').query(age, [oldest?.id, '90 days'])
  const list = async (filter: object) =>
    (await team.call(listDeposits, { input: { method: 'old', limit: 9, ...filter } })).data.map(({ id }) => id)
  const all = [recent?.id, older?.id, oldest?.id]
  t.same(await list({}), [recent?.id])
  t.same(await list({ to: new Date(Date.now() - 31 * 86_400_000).toISOString() }), [older?.id])
  for (const whose of [{ brandId }, { playerId }, { from: '2020-01-01T00:00:00.000Z' }]) t.same(await list(whose), all)
})

t.test('sumDeposits adds up each status for itself, of the newest of an owner and a period', async (t) => {
  const { brandId } = bed.scope({ brandId: 'brd_of_sums' })
  const insert = (count: number, status: string, method: string) =>
    bed.sql('admin').query(
      `insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference,
        amount, currency, method, status, version, created_at, failed_at)
      select 'dep_sum_' || $3 || n, $1, 'op', 'sandbox', 'UTC', 'ply_sum', $3 || n, 100, 'BRL', $4, $2, 2,
        now() - n * interval '1 second', case when $2 = 'failed' then now() end
      from generate_series(1, $5::int) n`,
      [brandId, status, `${status}-${method}`, method, count],
    )
  await Promise.all([insert(900, 'failed', 'pix'), insert(5_000, 'pending', 'pix'), insert(100, 'pending', 'card')])
  const sum = async (filter: object = {}) => {
    const { data, isWhole } = await team.call(sumDeposits, { input: { brandId, ...filter } })
    return [isWhole, ...data.map(({ status, currency, count, amount }) => `${status} ${count} ${amount} ${currency}`)]
  }
  t.same(await sum(), [true, 'failed 900 900.00 BRL', 'pending 5100 5100.00 BRL'])
  t.same(await sum({ status: 'failed' }), [true, 'failed 900 900.00 BRL'])
  t.same(await sum({ method: 'card' }), [true, 'pending 100 100.00 BRL'])
  t.same(await sum({ to: '2020-01-01T00:00:00.000Z' }), [true])
  t.same(await sum({ playerId: 'ply_sum', environment: 'production' }), [true])
  await insert(5_000, 'failed', 'card')
  const [isWhole, ...sums] = await sum()
  t.equal(isWhole, false, 'there are more than are read')
  const counted = sums.map((one) => Number(String(one).split(' ')[1])).reduce((all, one) => all + one, 0)
  t.equal(counted, sumRowsMax)
})

t.test('listDeposits lists those of all operators, newest first, page by page, and filters', async (t) => {
  const production = path.in({ environment: 'production', brandId: 'brd_live', operatorId: 'op_live' })
  const playerId = await path.newPlayer({ kyc: false })
  const first = await path.createDeposit(playerId)
  const live = await production.createDeposit(await production.newPlayer({ kyc: false }))
  const card = await path.createDeposit(playerId, { method: 'card' })
  await path.confirm(card.id)
  const { externalReference, createdAt: from } = first
  const list = async (filter: object) => {
    const { data } = await team.call(listDeposits, { input: { limit: 50, from, ...filter } })
    t.ok(
      data.every(({ operatorName }) => operatorName === null),
      'the gateway does not run here',
    )
    return data.map(({ id }) => id)
  }
  t.same(await list({}), [card.id, live.id, first.id])
  t.same(await list({ environment: 'production' }), [live.id])
  t.same(await list({ environment: 'sandbox' }), [card.id, first.id])
  t.same(await list({ environment: 'sandbox', method: 'card' }), [card.id])
  t.same(await list({ brandId: 'brd_live' }), [live.id])
  t.same(await list({ brandId: 'brd_live', environment: 'sandbox' }), [])
  t.same(await list({ playerId, status: 'confirmed' }), [card.id])
  t.same(await list({ from: live.createdAt, to: card.createdAt }), [live.id])
  for (const whose of [{ brandId }, { playerId }]) t.same(await list({ ...whose, externalReference }), [first.id])
  for (const [whose, all] of [
    [{}, [card.id, live.id, first.id]],
    [{ brandId }, [card.id, first.id]],
    [{ playerId }, [card.id, first.id]],
  ] as const) {
    const rows = await allPages((before) =>
      team.call(listDeposits, { input: { ...whose, from, limit: 1, ...defined({ before }) } }),
    )
    t.same(
      rows.map(({ id }) => id),
      all,
    )
  }
  const twin = await production.createDeposit(live.playerId, { externalReference })
  t.same(await list({ externalReference }), [twin.id, first.id], 'an operator alone says which one it means')
  t.same(await list({ externalReference, environment: 'sandbox' }), [first.id])
  t.same(await list({ externalReference, status: 'confirmed' }), [])
})

t.test("of a player's open records only its own count", async (t) => {
  const [quiet, busy] = [await path.newPlayer(), await path.newPlayerWith('100.00')]
  await path.createDeposit(busy)
  await path.requestWithdrawal(busy)
  const count = (playerId: string) => bed.rpc.call(readOpenRecords, { scope, input: { playerId } })
  t.same(await count(quiet), { openDeposits: 0, openWithdrawals: 0, lastChangeAt: null })
  t.match(await count(busy), { openDeposits: 1, openWithdrawals: 1 })
})

t.test('where a player was paid to is forgotten when it has ended, and nobody else is', async (t) => {
  const [leaving, staying] = [await path.newPlayerWith('100.00'), await path.newPlayerWith('100.00')]
  const request = async (playerId: string, ended: boolean) => {
    const { id } = await path.requestWithdrawal(playerId)
    if (ended) await path.decideInSandbox(id, 'reject')
    return id
  }
  const [ended, open, other] = [
    await request(leaving, true),
    await request(leaving, false),
    await request(staying, true),
  ]
  await bed.rpc.call(forgetDestinations, { scope, input: { playerId: leaving } })
  const destinationOf = async (withdrawalId: string) =>
    (await team.call(showWithdrawal, { input: { withdrawalId } })).destination
  t.equal(await destinationOf(ended), 'anonymised')
  t.not(await destinationOf(open), 'anonymised', 'it still has to be paid')
  t.not(await destinationOf(other), 'anonymised')
})

/** With the rights of the reconciler, as every view is read. */
const seen = (view: string, where: string, id: string) =>
  bed.sql('reconciler').query(`select * from payments.reconcilable_${view} where ${where} = $1`, [id])

t.test('reconciliation sees a deposit with its way, and not how it was paid', async (t) => {
  const playerId = await path.newPlayer()
  const { id } = await path.createDeposit(playerId, { amount: '150.00' })
  await path.confirm(id)
  const [deposit] = (await seen('deposit', 'id', id)).rows
  t.match(deposit, { brand_id: brandId, environment: 'sandbox', player_id: playerId, amount: '15000', version: 2 })
  for (const hidden of ['method', 'external_reference', 'operator_id']) t.notOk(hidden in deposit, hidden)
  const { rows } = await seen('transition', 'record_id', id)
  t.same(rows.map(({ from_status, to_status }) => `${from_status} → ${to_status}`).sort(), [
    'null → pending',
    'pending → confirmed',
  ])
  t.match((await seen('depositor', 'player_id', playerId)).rows, [{ day_total: '15000' }])
})

t.test('it sees a withdrawal, and not to where', async (t) => {
  const { id } = await path.requestWithdrawal(await path.newPlayerWith('50.00'), { amount: '20.00' })
  const [withdrawal] = (await seen('withdrawal', 'id', id)).rows
  t.match(withdrawal, { brand_id: brandId, status: 'under_review', amount: '2000', approved_by: null })
  for (const hidden of ['destination', 'sealed_destination', 'method', 'reason']) t.notOk(hidden in withdrawal, hidden)
})
