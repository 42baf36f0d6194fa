import { operations } from '@backoffice/contracts'
import { refusal } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { showDeposit, listDeposits } = operations.payments
const path = await moneyPath(t)
const { scope } = path
const { brandId } = scope
const { bed } = path
const team = bed.team('alice')

t.test('showDeposit finds a deposit and its brand by the id alone', async (t) => {
  const deposit = await path.createDeposit(await path.newPlayer({ kyc: false }))
  const { transitions, ...shown } = await team.call(showDeposit, { input: { depositId: deposit.id } })
  t.same(shown, { ...deposit, ...scope, version: 1, settling: false })
  t.equal(transitions.length, 1)
  t.equal(await refusal(team.call(showDeposit, { input: { depositId: 'dep_unknown' } })), 'DEPOSIT_NOT_FOUND')
})

t.test('showDeposit says who changed it, when and why', async (t) => {
  const { id } = await path.createDeposit(await path.newPlayer({ kyc: false }))
  const failed = await path.fail(id, { reason: 'expired' })
  const by = { kind: 'operator', name: scope.operatorId }
  const { transitions } = await team.call(showDeposit, { input: { depositId: id } })
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
  const ids: string[] = []
  let pages = 0
  for (let before: string | null | undefined; before !== null; pages++) {
    const input = { brandId, limit: 1_000, ...(before === undefined ? {} : { before }) }
    const { data, nextCursor = null } = await team.call(listDeposits, { input })
    t.ok(Buffer.byteLength(JSON.stringify(data)) < 300_000)
    ids.push(...data.map(({ id }) => id))
    before = nextCursor
  }
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
    const pages: string[] = []
    for (let before: string | null | undefined; before !== null; ) {
      const input = { ...whose, from, limit: 1, ...(before === undefined ? {} : { before }) }
      const { data, nextCursor = null } = await team.call(listDeposits, { input })
      pages.push(...data.map(({ id }) => id))
      before = nextCursor
    }
    t.same(pages, all)
  }
  const twin = await production.createDeposit(live.playerId, { externalReference })
  t.same(await list({ externalReference }), [twin.id, first.id], 'an operator alone says which one it means')
  t.same(await list({ externalReference, environment: 'sandbox' }), [first.id])
  t.same(await list({ externalReference, status: 'confirmed' }), [])
})
