import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, refusal } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { insertIntents } from '../../src/withdrawals/intents.ts'
import { sweepIntents } from '../../src/withdrawals/request.ts'
import { moneyPath } from '../money-path.ts'

const path = await moneyPath(t)
const { bed } = path
const { db } = bed.services.payments
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

const attemptsOf = (operationId: string) =>
  path.rows<{ id: string; status: string }>(
    'select id, status from withdrawal where operation_id = $1 order by created_at desc',
    [operationId],
  )
const unfinished = () => path.rows("select from outbox where kind = 'command'")

/** The message to the wallet that the latest attempt of an operation has sent. */
async function placeHold(
  scope: Scope,
  operationId: string,
  asked: { readonly playerId: string; readonly amount: string },
): Promise<void> {
  const withdrawalId = (await attemptsOf(operationId))[0]?.id
  if (withdrawalId !== undefined) await refusal(bed.rpc.call(openHold, { scope, input: { ...asked, withdrawalId } }))
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
              await insertIntents(db, [{ intent, afterAbandoned: false }])
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
              const withdrawalId = (await attemptsOf(operationId)).find(({ status }) => status === 'under_review')?.id
              if (withdrawalId !== undefined) await own.cancel(withdrawalId)
              break
            }
            case 'sweep':
              await sweepIntents(bed.services.payments, { abandonAfterMs: -1 })
              break
            case 'reconcile':
              assert.deepEqual(await path.differences(scope.brandId), [])
              break
            default:
              is satisfies never
          }
        }
        await sweepIntents(bed.services.payments, { abandonAfterMs: -1 })
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
