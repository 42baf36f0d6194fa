import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, refusal } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { insertIntents, refuseIntent } from '../../src/withdrawals/intents.ts'
import { Intents, sweepIntents } from '../../src/withdrawals/request.ts'
import { HeldReplies, moneyPath } from '../money-path.ts'

const path = await moneyPath(t)
const replies = await HeldReplies.on(path)
const { payments } = path.bed.services

const attempts = async (operationId: string) =>
  path.rows<{ id: string; status: string }>(
    'select id, status from withdrawal where operation_id = $1 order by created_at, id',
    [operationId],
  )

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
  const [abandoned] = await attempts(slow)
  t.match(abandoned, { status: 'abandoned' })
  t.equal(await refusal(path.getWithdrawal(abandoned?.id ?? '')), 'WITHDRAWAL_NOT_FOUND')
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

const { openHold } = operations.wallet
/** `SWEEP_RUNS=500` looks for long. A failure prints its seed, for `SWEEP_SEED`. */
const numRuns = Number(process.env.SWEEP_RUNS ?? 3)
const seed = process.env.SWEEP_SEED === undefined ? {} : { seed: Number(process.env.SWEEP_SEED) }

/** Twice the balance, so that some holds are refused. */
const amount = fc.constantFrom('30.00', '60.00', '120.00')
const operation = fc.integer({ min: 0, max: 3 })
const kinds = [
  /** A request whose process dies after it has committed its intent. */
  'intent',
  /** Its message reaches the wallet, soon or late. */
  'hold',
  /** Both: a request whose reply nobody has heard. */
  'unheard',
  /** Its client tries again with the same key. */
  'retry',
  'cancel',
  'sweep',
  'reconcile',
] as const
const step = fc.record({ is: fc.constantFrom(...kinds), operation })

const unfinished = () => path.rows("select from outbox where kind = 'command'")

/** The message to the wallet that the latest attempt of an operation has sent. */
async function placeHold(
  scope: Scope,
  operationId: string,
  asked: { readonly playerId: string; readonly amount: string },
): Promise<void> {
  const withdrawalId = (await attempts(operationId)).at(-1)?.id
  if (withdrawalId !== undefined)
    await refusal(path.bed.rpc.call(openHold, { scope, input: { ...asked, withdrawalId } }))
}

t.test('property: wherever a request ends and the sweeper comes, the reconciliation finds nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(amount, amount, amount, amount),
      fc.array(step, { minLength: 4, maxLength: 14 }),
      async (amounts, steps) => {
        // A brand of its own: what one run finds must not fail the next.
        const own = path.in({ brandId: newId('brd') })
        const { scope } = own
        const playerId = await own.newPlayerWith('100.00')
        const operationIds = amounts.map(() => randomUUID())
        for (const { is, operation } of steps) {
          const operationId = operationIds[operation] as string
          const asked = { playerId, amount: amounts[operation] as string }
          switch (is) {
            case 'intent':
            case 'unheard': {
              const request = { playerId, amount: BigInt(asked.amount.replace('.', '')), currency: 'BRL' }
              const intent = {
                ...request,
                id: newId('wdr'),
                method: 'pix',
                destination: 'ana@example.com',
                operationId,
                scope,
              }
              await insertIntents(payments.db, [{ intent, afterAbandoned: false }])
              if (is === 'unheard') await placeHold(scope, operationId, asked)
              break
            }
            case 'hold':
              await placeHold(scope, operationId, asked)
              break
            case 'retry':
              await refusal(own.requestWithdrawal(playerId, { amount: asked.amount }, operationId))
              break
            case 'cancel': {
              const withdrawalId = (await attempts(operationId)).find(({ status }) => status === 'under_review')?.id
              if (withdrawalId !== undefined) await own.cancel(withdrawalId)
              break
            }
            case 'sweep':
              await sweepIntents(payments, { abandonAfterMs: -1 })
              break
            case 'reconcile':
              assert.deepEqual(await path.differences(scope.brandId), [])
              break
            default:
              is satisfies never
          }
        }
        await sweepIntents(payments, { abandonAfterMs: -1 })
        await eventually(async () => (await unfinished()).length === 0)
        assert.deepEqual(await path.differences(scope.brandId), [])
        const [under] = await path.rows<{ sum: string }>(
          "select coalesce(sum(amount), 0)::text as sum from withdrawal where player_id = $1 and status = 'under_review'",
          [playerId],
        )
        const withdrawable = ((10_000n - BigInt(under?.sum ?? 0)) / 100n).toString()
        assert.equal(await own.balance(playerId), `100.00 / ${withdrawable}.00`)
      },
    ),
    { numRuns, ...seed },
  )
})
