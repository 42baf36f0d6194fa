import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { eventually, refusal, type Teardown } from '@backoffice/test-kit'
import t from 'tap'
import { sweepIntents } from '../../src/withdrawals/request.ts'
import { type MoneyPath, moneyPath } from '../money-path.ts'
import { DoomedPayments, unheard } from './doomed-payments.ts'

// The numbers are those of the README's table of crash points.
const afterSweep = { abandonAfterMs: -1 }

const attempts = (path: MoneyPath, operationId: string) =>
  path.rows<{ id: string; status: string }>('select id, status from withdrawal where operation_id = $1 order by id', [
    operationId,
  ])

const commandsDone = (path: MoneyPath) =>
  eventually(async () => {
    const [row] = await path.rows<{ unfinished: number }>(
      `select count(*)::int as unfinished from outbox where kind = 'command'`,
    )
    return row?.unfinished === 0
  })

/** A process of payments that is killed in the middle of a withdrawal's request: where it would next write to a table. */
async function killedIn(
  t: Teardown,
  { table, waiting, request = {} }: { table: string; waiting?: 'wallet'; request?: { amount?: string } },
) {
  const path = await moneyPath(t)
  const playerId = await path.newPlayerWith('100.00')
  const doomed = await DoomedPayments.start(t, path)
  const operationId = randomUUID()
  const lock = await doomed.holdUp(table)
  unheard(path.requestWithdrawal(playerId, request, operationId))
  await doomed.isHeldUp(waiting)
  await doomed.kill()
  return { path, playerId, doomed, operationId, lock }
}

t.test('1: killed before the intent is committed, nothing is reserved and a retry begins', async (t) => {
  const { path, playerId, doomed, operationId, lock } = await killedIn(t, { table: 'payments.withdrawal' })
  await lock.release()
  t.same(await attempts(path, operationId), [])
  t.equal(await path.balance(playerId), '100.00 / 100.00')
  await doomed.takeOver()
  t.match(await path.requestWithdrawal(playerId, {}, operationId), { status: 'under_review' })
  t.equal(await path.balance(playerId), '100.00 / 90.00')
})

t.test('2: killed while the wallet is being asked, a retry goes on with the same reference', async (t) => {
  const { path, playerId, doomed, operationId, lock } = await killedIn(t, { table: 'wallet.hold', waiting: 'wallet' })
  const before = await attempts(path, operationId)
  t.match(before, [{ status: 'intent' }])
  await lock.release()
  await doomed.takeOver()
  const withdrawal = await path.requestWithdrawal(playerId, {}, operationId)
  t.equal(withdrawal.id, before[0]?.id)
  t.equal(await path.balance(playerId), '100.00 / 90.00', 'reserved once')
})

t.test('3: killed with the hold in place, a retry opens the withdrawal under the same reference', async (t) => {
  const { path, playerId, doomed, operationId, lock } = await killedIn(t, { table: 'payments.operation' })
  await lock.release()
  const before = await attempts(path, operationId)
  t.match(before, [{ status: 'intent' }])
  t.equal(await path.balance(playerId), '100.00 / 90.00', 'the wallet has reserved it')
  await doomed.takeOver()
  const withdrawal = await path.requestWithdrawal(playerId, {}, operationId)
  t.equal(withdrawal.id, before[0]?.id)
  t.equal(await path.balance(playerId), '100.00 / 90.00', 'reserved once')
})

t.test(
  '4: nobody comes back: the intent is given up and its hold released; a later retry has a new reference',
  async (t) => {
    const { path, playerId, operationId, lock } = await killedIn(t, {
      table: 'payments.operation',
      request: { amount: '100.00' },
    })
    await lock.release()
    const replica = await path.bed.start('payments')
    t.equal(await sweepIntents(replica, afterSweep), 1)
    await commandsDone(path)
    t.equal(await path.balance(playerId), '100.00 / 100.00')
    const [abandoned] = await attempts(path, operationId)
    t.equal(abandoned?.status, 'abandoned')
    t.equal(await refusal(path.getWithdrawal(abandoned?.id ?? '')), 'WITHDRAWAL_NOT_FOUND')

    const late = { playerId, withdrawalId: abandoned?.id ?? '', amount: '100.00' }
    const { state } = await path.bed.rpc.call(operations.wallet.openHold, { scope: path.scope, input: late })
    t.equal(state, 'released', 'a hold that arrives late reserves nothing')

    const withdrawal = await path.requestWithdrawal(playerId, { amount: '100.00' }, operationId)
    t.not(withdrawal.id, abandoned?.id)
    t.equal(await path.balance(playerId), '100.00 / 0.00')
  },
)

t.test('5: killed after the sweep, before the wallet was told: another replica releases the hold', async (t) => {
  const { path, playerId, operationId, lock } = await killedIn(t, {
    table: 'payments.operation',
    request: { amount: '100.00' },
  })
  await lock.release()
  const sweeper = await path.bed.start('payments')
  await path.bed.services.wallet.drain()
  t.equal(await sweepIntents(sweeper, afterSweep), 1)
  await sweeper.drain()

  await path.bed.start('payments')
  const retry = () => refusal(path.requestWithdrawal(playerId, { amount: '100.00' }, operationId))
  // Its own old hold would refuse it with INSUFFICIENT_FUNDS, for ever: so it is not asked yet.
  t.equal(await retry(), 'SERVICE_UNAVAILABLE')
  await path.bed.start('wallet')
  await commandsDone(path)
  t.equal(await path.balance(playerId), '100.00 / 100.00')
  t.equal(await retry(), null)
  t.equal(await path.balance(playerId), '100.00 / 0.00')
})
