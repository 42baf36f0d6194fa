import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { type Call, handle, type PrepareTools } from '@backoffice/service-runtime'
import { admitWithdrawal, beginWithdrawal } from '../domain/withdrawal.ts'
import type { Intents } from '../steps/intents.ts'
import { inOrder } from '../storage/in-order.ts'
import { refuseIntent } from '../storage/intents.ts'
import { isRecord, lockRows, updateWithdrawals } from '../storage/withdrawals.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

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
      const { input, scope, operationId, requestId, deadline } = call
      const { playerId, currency, method, destination } = input
      const standing = await tools.rpc.call(getPlayerStanding, { scope, input: { playerId }, requestId, deadline })
      admitWithdrawal({ currency, standing })
      const request = { playerId, amount: toMinorUnits(input.amount), currency, method, destination }
      const intent = { ...request, id: tools.newId('wdr'), operationId, scope }
      const attempt = await intents.begin(intent, deadline)
      if (attempt.status === 'refused') throw new Rejection('INSUFFICIENT_FUNDS')
      if (attempt.status === 'intent') await placeHold(attempt.id, call, tools)
      return attempt.id
    },

    apart: ({ prepared: id }) => [id],

    async load(calls, { db }) {
      const ids = calls.map(({ prepared }) => prepared)
      return inOrder(ids, await lockRows(db, ids))
    },

    decide({ scope, operationId }, found, { now }) {
      if (found?.status === 'intent') {
        const occasion = { at: now, by: { kind: 'operator', name: scope.operatorId } } as const
        const { withdrawal, transition } = beginWithdrawal(found, occasion)
        return { reply: publicWithdrawal(withdrawal), change: { record: withdrawal, transition, operationId } }
      }
      // The withdrawal began long ago, and its stored reply has been purged.
      if (found !== undefined && isRecord(found)) return { reply: publicWithdrawal(found), change: null }
      // The sweeper was quicker and gives the hold back. This refusal is not stored, so a retry with the same key
      // begins again.
      throw new Rejection('SERVICE_UNAVAILABLE')
    },

    async save(changes, { db }) {
      const opened = changes.filter((change) => change !== null)
      await updateWithdrawals(db, opened)
    },
  })

/** @throws {Rejection} INSUFFICIENT_FUNDS, or SERVICE_UNAVAILABLE when the outcome is unknown or the hold is gone */
async function placeHold(withdrawalId: string, call: RequestCall, { rpc, db }: PrepareTools): Promise<void> {
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
