import { randomUUID } from 'node:crypto'
import { purge } from '@backoffice/service-runtime/testing'
import { eventually, refusal, TestTime } from '@backoffice/test-kit'
import t from 'tap'
import { droppedIntents } from '../../src/service.ts'
import { sweepIntents } from '../../src/withdrawals/request.ts'
import { moneyPath } from '../money-path.ts'

const time = new TestTime(new Date('2025-03-02T15:00:00.000Z'))
const clock = { aheadMs: 0, now: () => new Date(time.now().getTime() + clock.aheadMs) }
const later = (ms: number) => time.set(new Date(time.now().getTime() + ms))
/** As if so much time had passed for the intents by PostgreSQL's clock. */
const age = (ms: number) =>
  path.rows(`update withdrawal set created_at = created_at - make_interval(secs => $1) where status = 'intent'`, [
    ms / 1_000,
  ])
/** Long enough for what is not to be given up on a slow machine. */
const abandonAfterMs = 3_600_000
const path = await moneyPath(t, { time, clock })
const { payments } = path.bed.services

/** An intent that stays one: the wallet answers nothing. */
async function leaveIntent(playerId: string, operationId: string): Promise<void> {
  const lock = await path.bed.sql('admin').connect()
  await lock.query('begin; lock table wallet.hold in exclusive mode')
  const unanswered = refusal(path.requestWithdrawal(playerId, {}, operationId))
  await eventually(async () => (await statusOf(operationId)).includes('intent'))
  // The wallet's statement is ended instead of the service, which gives payments an error at once. Others wait for the
  // lock too, so one that was ended need not have been the call's.
  let answered = false
  void unanswered.then(() => {
    answered = true
  })
  const waiting = `select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = 'backoffice_wallet' and wait_event_type = 'Lock'`
  await eventually(async () => {
    await lock.query(waiting)
    return answered
  })
  await lock.query('rollback')
  lock.release()
  t.match(await unanswered, /INTERNAL_ERROR|SERVICE_UNAVAILABLE/)
}

const statusOf = async (operationId: string) =>
  (await path.rows<{ status: string }>('select status from withdrawal where operation_id = $1', [operationId])).map(
    ({ status }) => status,
  )

t.test('an intent is given up only when its request cannot come back any more', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const operationId = randomUUID()
  await leaveIntent(playerId, operationId)
  await age(abandonAfterMs / 2)
  t.equal(await sweepIntents(payments, { abandonAfterMs }), 0)
  await age(abandonAfterMs / 2)
  t.equal(await sweepIntents(payments, { abandonAfterMs }), 1)
  t.same(await statusOf(operationId), ['abandoned'])
  t.equal(await sweepIntents(payments, { abandonAfterMs }), 0)
})

t.test("PostgreSQL's clock says when an intent is old, and no replica's own", async (t) => {
  t.teardown(() => {
    clock.aheadMs = 0
  })
  const playerId = await path.newPlayerWith('100.00')
  for (const twoDaysAway of [-2, 2]) {
    clock.aheadMs = twoDaysAway * 24 * 3_600_000
    const operationId = randomUUID()
    await leaveIntent(playerId, operationId)
    t.equal(await sweepIntents(payments, { abandonAfterMs }), 0)
    await age(abandonAfterMs)
    t.equal(await sweepIntents(payments, { abandonAfterMs }), 1)
  }
})

t.test('an intent of the future, as after a clock was set back, is old', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  await leaveIntent(playerId, randomUUID())
  await age(-3_600_000)
  t.equal(await sweepIntents(payments, { abandonAfterMs }), 1)
})

t.test('a withdrawal is never swept', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const { id } = await path.requestWithdrawal(playerId)
  await later(24 * 3_600_000)
  await sweepIntents(payments, { abandonAfterMs })
  t.match(await path.getWithdrawal(id), { status: 'under_review' })
})

t.test('two sweepers at once give up each intent once', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const ids = [randomUUID(), randomUUID(), randomUUID()]
  for (const operationId of ids) await leaveIntent(playerId, operationId)
  await age(abandonAfterMs)
  const swept = await Promise.all([1, 2, 3].map(() => sweepIntents(payments, { abandonAfterMs })))
  t.equal(
    swept.reduce((sum, count) => sum + count, 0),
    3,
  )
  await eventually(async () => (await path.balance(playerId)) === '100.00 / 100.00')
})

t.test('intents that came to nothing are purged with the stored replies, withdrawals never', async (t) => {
  const playerId = await path.newPlayerWith('10.00')
  const [opened, refused] = [randomUUID(), randomUUID()]
  await path.requestWithdrawal(playerId, {}, opened)
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, refused)), 'INSUFFICIENT_FUNDS')
  await later(droppedIntents.keepMs - 1)
  await purge(payments, droppedIntents)
  t.same(await statusOf(refused), ['refused'])
  await later(2)
  await purge(payments, droppedIntents)
  t.same(await statusOf(refused), [])
  t.same(await statusOf(opened), ['under_review'])
})
