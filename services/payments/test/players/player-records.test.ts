import { operations } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { readOpenRecords, forgetDestinations, showWithdrawal } = operations.payments
const path = await moneyPath(t)
const { bed, scope } = path

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
    (await bed.team('alice').call(showWithdrawal, { input: { withdrawalId } })).destination
  t.equal(await destinationOf(ended), 'anonymised')
  t.not(await destinationOf(open), 'anonymised', 'it still has to be paid')
  t.not(await destinationOf(other), 'anonymised')
})

/** With the rights of the reconciler, as every view is read. */
const seen = (view: string, where: string, id: string) =>
  bed.sql('reconciler').query(`select * from payments.reconcilable_${view} where ${where} = $1`, [id])
const { brandId } = scope

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

t.test('it sees of an event what it told, and whom it is about', async (t) => {
  const playerId = await path.newPlayer()
  const { id } = await path.createDeposit(playerId)
  await path.confirm(id)
  const event = await eventually(async () => (await seen('event', 'aggregate', id)).rows[0] ?? false)
  t.match(event.id, /^evt_/)
  t.type(event.published_at, Date)
  t.equal(event.content, `deposit.confirmed: confirmed of 10.00, brand ${brandId} sandbox ${playerId}`)
  t.same((await seen('waiting_event', 'aggregate', id)).rows, [], 'nothing waits')
})
