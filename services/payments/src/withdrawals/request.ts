// Operations.

import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import {
  Batcher,
  batchFaultOf,
  type Call,
  type Database,
  handle,
  type ServiceContext,
  type Tools,
  UnfinishedOperation,
} from '@backoffice/service-runtime'
import { inOrder, scopeOf, settled, withUnfinished } from '../records.ts'
import {
  abandonIntents,
  type Intent,
  insertIntents,
  listAttempts,
  refuseIntent,
  type WithdrawalAttempt,
} from './intents.ts'
import { isRecord, lockRows, updateWithdrawals } from './records.ts'
import { publicWithdrawal } from './views.ts'
import { admitWithdrawal, beginWithdrawal, hasEnded } from './withdrawal.ts'

const { requestWithdrawal: operation } = operations.payments
const { getPlayerStanding } = operations.players
const { openHold } = operations.wallet

type RequestCall = Call<typeof operation>

/**
 * The wallet can refuse the hold, so the hold comes before the withdrawal. First an intent is committed, whose id is
 * the hold's reference. Then the wallet is asked. Then the intent becomes the withdrawal, together with the reply. The
 * README says what happens when the process dies between any two of these steps.
 */
export const requestWithdrawal = ({ intents }: { readonly intents: Intents }) =>
  handle(operation, {
    async prepare(call, tools) {
      const { input, scope, operationId, requestId, deadline, key } = call
      const { playerId, currency, method, destination } = input
      const standing = await tools.rpc.call(getPlayerStanding, { scope, input: { playerId }, requestId, deadline })
      admitWithdrawal({ currency, standing })
      const request = { playerId, amount: toMinorUnits(input.amount), currency, method, destination }
      const intent = { ...request, id: tools.newId('wdr'), operationId, scope, key }
      const attempt = await intents.begin(intent, deadline)
      if (attempt.status === 'refused') throw new Rejection('INSUFFICIENT_FUNDS')
      if (attempt.status === 'intent') await placeHold(attempt.id, call, tools)
      return attempt.id
    },

    conflictKeys: ({ prepared: id }) => [id],

    async load(calls, { db }) {
      const ids = calls.map(({ prepared }) => prepared)
      return inOrder(ids, await withUnfinished(db, await lockRows(db, ids), (row) => isRecord(row) && hasEnded(row)))
    },

    decide({ scope, operationId }, found, { now }) {
      if (found?.status === 'intent') {
        const context = { at: now, by: { kind: 'operator', name: scope.operatorId } } as const
        const { withdrawal, transition } = beginWithdrawal(found, context)
        return { reply: publicWithdrawal(settled(withdrawal)), change: { record: withdrawal, transition, operationId } }
      }
      // The withdrawal began long ago, and its stored reply has been purged.
      if (found !== undefined && isRecord(found)) {
        if (found.unfinished !== null) throw new UnfinishedOperation(found.unfinished)
        return { reply: publicWithdrawal(settled(found)), change: null }
      }
      // The sweeper was quicker and gives the hold back. This refusal is not stored, so a retry with the same key
      // begins again.
      throw new Rejection('SERVICE_UNAVAILABLE')
    },

    save: (changes) => updateWithdrawals(changes.filter((change) => change !== null)),
  })

/** @throws {Rejection} INSUFFICIENT_FUNDS, or SERVICE_UNAVAILABLE when the outcome is unknown or the hold is gone */
async function placeHold(withdrawalId: string, call: RequestCall, { rpc, db }: Tools['prepare']): Promise<void> {
  const { input, scope, requestId, deadline } = call
  const hold = { playerId: input.playerId, withdrawalId, amount: input.amount }
  try {
    const { state } = await rpc.call(openHold, { scope, input: hold, requestId, deadline })
    // Only an open hold reserves money. A released one is what the sweeper leaves, so that late requests reserve
    // nothing.
    if (state !== 'open') throw new Rejection('SERVICE_UNAVAILABLE')
  } catch (error) {
    // The wallet will refuse this reference for ever, so there is nothing to release.
    if (error instanceof Rejection && error.code === 'INSUFFICIENT_FUNDS') await refuseIntent(db, withdrawalId)
    throw error
  }
}

/** An intent on its way into the table. */
interface BegunIntent {
  readonly intent: Intent
  /** Abandoned attempts of the operation do not count. */
  readonly afterAbandoned: boolean
  readonly deadline: Date
}

/** Commits intents, those that wait together in one batch, before the wallet is asked for their holds. */
export class Intents {
  readonly #db: Database
  readonly #inserted: Batcher<BegunIntent, boolean>

  constructor(db: Database) {
    this.#db = db
    this.#inserted = new Batcher({
      batchMax: 200,
      queueMax: 2_000,
      conflictKeys: ({ intent }) => [intent.operationId],
      ownerOf: ({ intent }) => intent.scope.brandId,
      isExpired: ({ deadline }) => deadline.getTime() <= Date.now(),
      faultOf: batchFaultOf,
      async run(begun) {
        const ids = await insertIntents(db, begun)
        return begun.map(({ intent }) => ids.has(intent.id))
      },
    })
  }

  /**
   * Finds the intent that an earlier attempt of the operation left, or another operation under its key, or commits the given
   * one.
   * @returns the attempt to carry on with
   * @throws {Rejection} SERVICE_UNAVAILABLE; IDEMPOTENCY_CONFLICT when the key stands for another request
   */
  async begin(intent: Intent, deadline: Date): Promise<WithdrawalAttempt> {
    const begun = { id: intent.id, status: 'intent', releasing: false, isSame: true } as const
    if (await this.#inserted.add({ intent, afterAbandoned: false, deadline })) return begun
    const current = currentAttempt(await listAttempts(this.#db, intent))
    if (current !== null) return current
    if (await this.#inserted.add({ intent, afterAbandoned: true, deadline })) return begun
    // Either a second delivery of the same message was quicker, or the operation has its reply, which the runner now
    // looks for.
    throw new Rejection('SERVICE_UNAVAILABLE')
  }
}

/**
 * @throws {Rejection} SERVICE_UNAVAILABLE until the wallet has given back what an abandoned attempt may have
 *   reserved: that money would be missing for the new hold, which would be refused for ever
 */
function currentAttempt(attempts: readonly WithdrawalAttempt[]): WithdrawalAttempt | null {
  const current = attempts.find(({ status }) => status !== 'abandoned')
  if (current?.isSame === false) throw new Rejection('IDEMPOTENCY_CONFLICT')
  if (current !== undefined) return current
  if (attempts.some(({ releasing }) => releasing)) throw new Rejection('SERVICE_UNAVAILABLE')
  return null
}

const batchMax = 100

/**
 * Abandons the intents that no request has come back for, and leaves the wallet a release for each, in one transaction.
 * The release also makes the wallet refuse a hold that arrives later.
 * @returns how many were abandoned
 */
export async function sweepIntents(
  { transact }: Pick<ServiceContext, 'transact'>,
  { abandonAfterMs }: { readonly abandonAfterMs: number },
): Promise<number> {
  return transact(async ({ db, now, send }) => {
    const abandoned = await abandonIntents(db, { afterMs: abandonAfterMs, now, limit: batchMax })
    for (const intent of abandoned) {
      const { id: withdrawalId, playerId } = intent
      const input = { playerId, withdrawalId }
      send({ operation: operations.wallet.releaseHold, aggregate: withdrawalId, scope: scopeOf(intent), input })
    }
    return abandoned.length
  })
}

/** Sweeps every `everyMs`, and again at once while there is more than one batch. */
export function intentSweeper(
  context: ServiceContext,
  { everyMs, abandonAfterMs }: { readonly everyMs: number; readonly abandonAfterMs: number },
): Loop {
  return new Loop({
    name: 'sweeping intents',
    log: context.log,
    everyMs,
    firstAfterMs: everyMs,
    run: async () => (await sweepIntents(context, { abandonAfterMs })) >= batchMax,
  })
}
