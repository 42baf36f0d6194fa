import { randomUUID } from 'node:crypto'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'
import { DoomedPayments, unheard } from './doomed-payments.ts'

// The numbers are those of the README's table of crash points.
t.test(
  '6: killed after the commit of a confirmation, the money and the event follow, and a replay says confirmed',
  async (t) => {
    const path = await moneyPath(t)
    const playerId = await path.newPlayer({ kyc: false })
    const { id } = await path.createDeposit(playerId)
    const doomed = await DoomedPayments.start(t, path)
    const operationId = randomUUID()
    const lock = await doomed.holdUp('wallet.transfer')
    unheard(path.confirm(id, operationId))
    await doomed.isHeldUp('wallet')
    await doomed.kill()
    await lock.release()
    await doomed.takeOver()
    t.match(await path.confirm(id, operationId), { status: 'confirmed' })
    t.same(await path.ledgerTypes(playerId), ['DEPOSIT 10.00'])
    await eventually(async () => (await path.rows('select from outbox where done_at is null')).length === 0)
    t.equal((await path.events(id)).length, 1)
  },
)

t.test('7: killed with the money debited, before that was noted: it is debited once', async (t) => {
  const path = await moneyPath(t)
  const playerId = await path.newPlayerWith('100.00')
  const { id } = await path.requestWithdrawal(playerId)
  await path.decideInSandbox(id, 'approve')
  const doomed = await DoomedPayments.start(t, path)
  const wallet = await doomed.holdUp('wallet.transfer')
  unheard(path.decideInSandbox(id, 'pay'))
  await doomed.isHeldUp('wallet')
  // The payment is committed and the wallet is being asked: until it has answered, everyone sees the former status.
  t.match(await path.getWithdrawal(id), { status: 'approved', paidAt: null })
  const outbox = await doomed.holdUp('payments.outbox')
  await wallet.release()
  await doomed.isHeldUp()
  t.equal(await path.balance(playerId), '90.00 / 90.00')
  await doomed.kill()
  await outbox.release()
  await doomed.takeOver()
  await eventually(async () => (await path.getWithdrawal(id)).status === 'paid')
  t.same(await path.ledgerTypes(playerId), ['WITHDRAWAL -10.00', 'DEPOSIT 100.00'])
  t.equal(await path.balance(playerId), '90.00 / 90.00')
})

t.test(
  '8: killed after a cancellation was committed, the hold is released once and the next decision is refused',
  async (t) => {
    const path = await moneyPath(t)
    const playerId = await path.newPlayerWith('100.00')
    const { id } = await path.requestWithdrawal(playerId)
    const doomed = await DoomedPayments.start(t, path)
    const lock = await doomed.holdUp('wallet.hold')
    unheard(path.cancel(id))
    await doomed.isHeldUp('wallet')
    t.match(await path.getWithdrawal(id), { status: 'under_review' })
    await doomed.kill()
    await lock.release()
    await doomed.takeOver()
    await t.rejects(path.decideInSandbox(id, 'approve'), {
      code: 'WITHDRAWAL_INVALID_STATE',
      details: { withdrawalId: id, status: 'cancelled' },
    })
    t.equal(await path.balance(playerId), '100.00 / 100.00')
  },
)
