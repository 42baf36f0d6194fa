import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const path = await moneyPath(t)
/** With the rights of the reconciler, as every view is read. */
const seen = (view: string, where: string, id: string) =>
  bed.sql('reconciler').query(`select * from payments.reconcilable_${view} where ${where} = $1`, [id])
const { bed, scope } = path
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
