import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { type Call, type DirectTools, handle } from '@backoffice/service-runtime'
import { admitWithdrawal, openWithdrawal } from '../domain/withdrawal.ts'
import { type Attempt, insertIntent, listAttempts, refuseIntent, type WithdrawalRequest } from '../storage/intents.ts'
import { isRecord, lockRows, updateWithdrawals } from '../storage/withdrawals.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

const { requestWithdrawal: requestWithdrawalOperation } = operations.payments
const { getPlayerStanding } = operations.players
const { openHold } = operations.wallet

type RequestCall = Call<typeof requestWithdrawalOperation>

/**
 * The hold can be refused, so it comes before the withdrawal: an intent is committed, whose id is the hold's reference;
 * the wallet is asked; and the intent becomes the withdrawal together with the reply. The README goes through what happens
 * when the process dies between any two of these lines.
 */
export const requestWithdrawal = handle(requestWithdrawalOperation, {
  async prepare(call, tools): Promise<Attempt> {
    const { input, scope, requestId, deadline } = call
    const { playerId, currency } = input
    const standing = await tools.rpc.call(getPlayerStanding, { scope, input: { playerId }, requestId, deadline })
    admitWithdrawal({ currency, standing })
    const intent = await beginIntent(call, tools)
    if (intent.status === 'refused') throw new Rejection('INSUFFICIENT_FUNDS')
    if (intent.status === 'intent') await placeHold(intent, call, tools)
    return intent
  },

  apart: ({ prepared }) => [prepared.id],

  async load(calls, { db }) {
    const ids = calls.map(({ prepared }) => prepared.id)
    const rows = await lockRows(db, ids)
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.map((id) => byId.get(id))
  },

  decide({ scope, operationId }, found, { now }) {
    if (found?.status === 'intent') {
      const { withdrawal, transition } = openWithdrawal(found, {
        at: now,
        by: { kind: 'operator', name: scope.operatorId },
      })
      return { reply: publicWithdrawal(withdrawal), change: { record: withdrawal, transition, operationId } }
    }
    // Opened long ago, its stored reply already purged?
    if (found !== undefined && isRecord(found)) return { reply: publicWithdrawal(found), change: null }
    // The sweeper was quicker, and gives the hold back. Nothing is stored of this, so the same key begins anew.
    throw new Rejection('SERVICE_UNAVAILABLE')
  },

  save: (changes, { db }) =>
    updateWithdrawals(
      db,
      changes.filter((change) => change !== null),
    ),
})

function requested({ playerId, amount, currency, method, destination }: RequestCall['input']): WithdrawalRequest {
  return { playerId, amount: toMinorUnits(amount), currency, method, destination }
}

/** The intent of this operation: the one that an earlier attempt left, or a new one under a new reference. */
async function beginIntent(call: RequestCall, { db, newId, now }: DirectTools): Promise<Attempt> {
  const { scope, operationId } = call
  const intent = { ...requested(call.input), id: newId('wdr'), operationId, scope, now }
  const begun = { id: intent.id, status: 'intent', releasing: false } as const
  if (await insertIntent(db, { ...intent, afterAbandoned: false })) return begun
  const current = currentAttempt(await listAttempts(db, operationId))
  if (current !== null) return current
  if (await insertIntent(db, { ...intent, afterAbandoned: true })) return begun
  // A second delivery of the same message was quicker.
  throw new Rejection('SERVICE_UNAVAILABLE')
}

/**
 * @throws {Rejection} SERVICE_UNAVAILABLE while the wallet has not given back what an abandoned attempt may have reserved:
 *   the new one would be refused for want of the very money that the old one holds
 */
function currentAttempt(attempts: readonly Attempt[]): Attempt | null {
  const current = attempts.find(({ status }) => status !== 'abandoned')
  if (current !== undefined) return current
  if (attempts.some(({ releasing }) => releasing)) throw new Rejection('SERVICE_UNAVAILABLE')
  return null
}

/** @throws {Rejection} INSUFFICIENT_FUNDS, or SERVICE_UNAVAILABLE when the outcome is unknown or the hold is gone */
async function placeHold({ id }: Attempt, call: RequestCall, { rpc, db, now }: DirectTools): Promise<void> {
  const { input, scope, requestId, deadline } = call
  const hold = { playerId: input.playerId, withdrawalId: id, amount: input.amount }
  try {
    const { state } = await rpc.call(openHold, { scope, input: hold, requestId, deadline })
    // Only an open hold reserves money; a released one is what the sweeper leaves against late requests.
    if (state !== 'open') throw new Rejection('SERVICE_UNAVAILABLE')
  } catch (error) {
    // The wallet will give the same answer to this reference for ever, so there is nothing to release.
    if (error instanceof Rejection && error.code === 'INSUFFICIENT_FUNDS') await refuseIntent(db, { id, now })
    throw error
  }
}
