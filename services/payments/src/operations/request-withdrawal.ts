import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { type Call, command, type QueryTools } from '@backoffice/service-runtime'
import { admitWithdrawal, openedTransition } from '../domain/withdrawal.ts'
import { type Intent, insertIntent, listAttempts, openIntent, refuseIntent } from '../storage/intents.ts'
import { recordTransition } from '../storage/transitions.ts'
import { findWithdrawal } from '../storage/withdrawals.ts'
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
export const requestWithdrawal = command(requestWithdrawalOperation, {
  async prepare(call, tools): Promise<Intent> {
    const { input, scope, requestId, deadline } = call
    const { playerId, currency } = input
    const standing = await tools.rpc.call(getPlayerStanding, { scope, input: { playerId }, requestId, deadline })
    admitWithdrawal({ currency, standing })
    const intent = await beginIntent(call, tools)
    if (intent.status === 'refused') throw new Rejection('INSUFFICIENT_FUNDS')
    if (intent.status === 'intent') await placeHold(intent, call, tools)
    return intent
  },

  async execute({ scope, operationId }, tools, { id }) {
    const opened = await openIntent(tools.sql, { id, now: tools.now })
    const withdrawal = await findWithdrawal(tools.em, { id, brandId: scope.brandId })
    // The sweeper was quicker, and gives the hold back. Nothing was stored: the same key begins anew.
    if (withdrawal === null) throw new Rejection('SERVICE_UNAVAILABLE')
    if (opened) {
      const occasion = { at: tools.now, by: { kind: 'operator', name: scope.operatorId } } as const
      await recordTransition(tools.sql, { recordId: id, operationId, transition: openedTransition(occasion) })
    }
    return publicWithdrawal(withdrawal)
  },
})

/** The intent of this operation: the one that an earlier attempt left, or a new one under a new reference. */
async function beginIntent(call: RequestCall, { sql, newId, now }: QueryTools): Promise<Intent> {
  const { input, scope, operationId } = call
  const current = currentAttempt(await listAttempts(sql, operationId))
  if (current !== null) return current
  const { playerId, currency, method, destination } = input
  const request = { playerId, amount: toMinorUnits(input.amount), currency, method, destination }
  await insertIntent(sql, { ...request, id: newId('wdr'), operationId, scope, now })
  // Perhaps that of a second delivery of the same message, which was quicker.
  const begun = currentAttempt(await listAttempts(sql, operationId))
  if (begun === null) throw new Rejection('SERVICE_UNAVAILABLE')
  return begun
}

/**
 * @throws {Rejection} SERVICE_UNAVAILABLE while the wallet has not given back what an abandoned attempt may have reserved:
 *   the new one would be refused for want of the very money that the old one holds
 */
function currentAttempt(attempts: readonly Intent[]): Intent | null {
  const current = attempts.find(({ status }) => status !== 'abandoned')
  if (current !== undefined) return current
  if (attempts.some(({ releasing }) => releasing)) throw new Rejection('SERVICE_UNAVAILABLE')
  return null
}

/** @throws {Rejection} INSUFFICIENT_FUNDS, or SERVICE_UNAVAILABLE when the outcome is unknown or the hold is gone */
async function placeHold({ id }: Intent, call: RequestCall, { rpc, sql, now }: QueryTools): Promise<void> {
  const { input, scope, requestId, deadline } = call
  const hold = { playerId: input.playerId, withdrawalId: id, amount: input.amount }
  try {
    const { state } = await rpc.call(openHold, { scope, input: hold, requestId, deadline })
    // Only an open hold reserves money; a released one is what the sweeper leaves against late requests.
    if (state !== 'open') throw new Rejection('SERVICE_UNAVAILABLE')
  } catch (error) {
    // The wallet will give the same answer to this reference for ever, so there is nothing to release.
    if (error instanceof Rejection && error.code === 'INSUFFICIENT_FUNDS') await refuseIntent(sql, { id, now })
    throw error
  }
}
