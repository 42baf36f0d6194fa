import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { eventually, refusal, type Teardown } from '@backoffice/test-kit'
import t from 'tap'
import { sweepIntents } from '../../src/withdrawals/request.ts'
import { HeldReplies } from '../held-replies.ts'
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
    await eventually(async () => (await path.rows('select from outbox')).length === 0)
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

/** Deposits of one player, with an operation id for the confirmation of each, in order. */
async function newDeposits(path: MoneyPath, playerId: string) {
  const deposits = await Promise.all(Array.from({ length: 5 }, () => path.createDeposit(playerId)))
  return deposits.map(({ id }, index) => ({ id, key: `confirm-${index}-${id}` }))
}

/** Confirmations in one transaction. */
function confirmTogether(path: MoneyPath, replies: HeldReplies, deposits: readonly { id: string; key: string }[]) {
  return replies.gather(
    (operationId) => path.confirm('dep_unknown', operationId),
    () => deposits.map(({ id, key }) => path.confirm(id, key)),
  )
}

t.test('9: killed in the middle of a batch, nothing of it was done, and each retry does it once', async (t) => {
  const path = await moneyPath(t)
  const playerId = await path.newPlayer({ kyc: false })
  const deposits = await newDeposits(path, playerId)
  const replies = await HeldReplies.on(path)
  const doomed = await DoomedPayments.start(t, path)
  // Replies are written in the order of their ids: most of them are written already.
  await replies.hold(deposits.at(-1)?.key ?? '')
  await confirmTogether(path, replies, deposits)
  await replies.isHeldUp()
  const free = 'select id from payments.deposit where id = any($1) for update skip locked'
  const ids = deposits.map(({ id }) => id)
  await eventually(async () => (await path.bed.sql('admin').query(free, [ids])).rowCount === 0)
  await doomed.kill()
  await replies.release(deposits.at(-1)?.key ?? '')
  await doomed.takeOver()
  t.equal((await path.rows(`select from deposit where id = any($1) and status = 'pending'`, [ids])).length, ids.length)
  t.equal(await path.balance(playerId), '0.00 / 0.00')
  for (const { id, key } of deposits) t.match(await path.confirm(id, key), { id, status: 'confirmed' })
  t.same(
    await path.ledgerTypes(playerId),
    ids.map(() => 'DEPOSIT 10.00'),
  )
})

t.test('10: killed after the commit of a batch, each of its credits and events follows once', async (t) => {
  const path = await moneyPath(t)
  const playerId = await path.newPlayer({ kyc: false })
  const deposits = await newDeposits(path, playerId)
  const replies = await HeldReplies.on(path)
  const doomed = await DoomedPayments.start(t, path)
  const lock = await doomed.holdUp('wallet.transfer')
  await confirmTogether(path, replies, deposits)
  const confirmed = `select from deposit where status = 'confirmed' group by xmin::text having count(*) = 5`
  await eventually(async () => (await path.rows(confirmed)).length === 1)
  await doomed.isHeldUp('wallet')
  await doomed.kill()
  await lock.release()
  await doomed.takeOver()
  for (const { id, key } of deposits) t.match(await path.confirm(id, key), { id, status: 'confirmed' })
  t.same(
    await path.ledgerTypes(playerId),
    deposits.map(() => 'DEPOSIT 10.00'),
  )
  await eventually(async () => (await path.rows('select from outbox')).length === 0)
  for (const { id } of deposits) t.equal((await path.events(id)).length, 1)
})
