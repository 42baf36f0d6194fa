import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { eventually, refusal } from '@backoffice/test-kit'
import t from 'tap'
import { refuseIntent } from '../../src/withdrawals/intents.ts'
import { Intents, sweepIntents } from '../../src/withdrawals/request.ts'
import { HeldReplies } from '../held-replies.ts'
import { moneyPath } from '../money-path.ts'

const path = await moneyPath(t)
const replies = await HeldReplies.on(path)
const { payments } = path.bed.services

const attempts = async (operationId: string) =>
  path.rows<{ id: string; status: string }>('select id, status from withdrawal where operation_id = $1 order by id', [
    operationId,
  ])

/** An intent as an earlier attempt has left it, the wallet not yet asked. */
async function leaveIntent(playerId: string, operationId: string): Promise<string> {
  const { brandId, operatorId, environment, timeZone } = path.scope
  const id = `wdr_${randomUUID()}`
  await path.rows(
    `insert into withdrawal (id, operation_id, brand_id, operator_id, environment, time_zone, player_id, amount, currency,
      method, destination, status, version, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, 1000, 'BRL', 'pix', 'ana@example.com', 'intent', 0, now(), now())`,
    [id, operationId, brandId, operatorId, environment, timeZone, playerId],
  )
  return id
}

t.test('a request that the sweeper overtook opens nothing, and the same key begins anew', async (t) => {
  const playerId = await path.newPlayerWith('10.00')
  const [ahead, slow] = [randomUUID(), randomUUID()]
  await replies.hold(ahead)
  const first = path.requestWithdrawal(await path.newPlayerWith('10.00'), {}, ahead)
  await replies.isHeldUp()
  const overtaken = refusal(path.requestWithdrawal(playerId, {}, slow))
  // Its money is reserved and it waits for the next transaction.
  await eventually(async () => (await path.balance(playerId)) === '10.00 / 0.00')
  await refusal(path.getWithdrawal('wdr_unknown'))
  t.equal(await sweepIntents(payments, { abandonAfterMs: -1 }), 1)
  await replies.release(ahead)
  t.match(await first, { status: 'under_review' })
  t.equal(await overtaken, 'SERVICE_UNAVAILABLE')
  t.match(await attempts(slow), [{ status: 'abandoned' }])
  t.same(await path.rows('select from operation where operation_id = $1', [slow]), [])
  await eventually(async () => (await path.balance(playerId)) === '10.00 / 10.00')
  t.match(await path.requestWithdrawal(playerId, {}, slow), { status: 'under_review' })
  t.match(await attempts(slow), [{ status: 'abandoned' }, { status: 'under_review' }])
})

t.test('as long as an old hold is not given back no new intent begins', async (t) => {
  const playerId = await path.newPlayerWith('10.00')
  const operationId = randomUUID()
  const id = await leaveIntent(playerId, operationId)
  await path.rows(`update withdrawal set status = 'abandoned', dropped_at = now() where id = $1`, [id])
  await path.rows(
    `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
    values ($1, $2, 1, 'command', 'wallet.releaseHold', '{}', 'sandbox', now(), now() + interval '1 hour')`,
    [`cmd_${id}`, id],
  )
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, operationId)), 'SERVICE_UNAVAILABLE')
  t.match(await attempts(operationId), [{ status: 'abandoned' }])
  await path.rows('delete from outbox where id = $1', [`cmd_${id}`])
  t.match(await path.requestWithdrawal(playerId, {}, operationId), { status: 'under_review' })
})

t.test('a hold that is not open reserves nothing, so no withdrawal is opened on it', async (t) => {
  const playerId = await path.newPlayerWith('10.00')
  const operationId = randomUUID()
  const withdrawalId = await leaveIntent(playerId, operationId)
  const input = { playerId, withdrawalId }
  await path.bed.rpc.call(operations.wallet.releaseHold, { scope: path.scope, input })
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, operationId)), 'SERVICE_UNAVAILABLE')
  t.match(await attempts(operationId), [{ status: 'intent' }])
  t.equal(await path.balance(playerId), '10.00 / 10.00')
})

t.test('a refusal that was not stored is heard by the retry, and comes too late for what was abandoned', async (t) => {
  const playerId = await path.newPlayerWith('10.00')
  const [refused, abandoned] = [randomUUID(), randomUUID()]
  await refuseIntent(payments.db, await leaveIntent(playerId, refused))
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, refused)), 'INSUFFICIENT_FUNDS')
  const id = await leaveIntent(playerId, abandoned)
  await path.rows(`update withdrawal set status = 'abandoned', dropped_at = now() where id = $1`, [id])
  await refuseIntent(payments.db, id)
  t.match(await attempts(abandoned), [{ status: 'abandoned' }])
})

t.test('a request that is over leaves no intent behind the sweeper', async (t) => {
  const playerId = await path.newPlayerWith('10.00')
  const operationId = randomUUID()
  const request = { playerId, amount: 1_000n, currency: 'BRL', method: 'pix', destination: 'ana@example.com' } as const
  const intent = { ...request, id: `wdr_${randomUUID()}`, operationId, scope: path.scope }
  const begun = new Intents(payments.db).begin(intent, new Date(Date.now() - 1))
  t.equal(await refusal(begun), 'SERVICE_UNAVAILABLE')
  t.same(await attempts(operationId), [])
})
