import { fromMinorUnits, type Input, operations, Rejection, seenOfWithdrawal } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { decideOnWithdrawal, decidingWithdrawals } from '../steps/decide-withdrawals.ts'
import { lockDepositors } from '../storage/deposits.ts'
import { sumPaidAlone } from '../storage/paid-alone.ts'
import type { WithdrawalRecord } from '../storage/withdrawals.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

/** @param payAloneUpTo in production one person may approve and pay up to this amount, in minor units */
export const decideWithdrawal = ({ payAloneUpTo }: { readonly payAloneUpTo: bigint }) =>
  handle(operations.payments.decideWithdrawal, {
    ...decidingWithdrawals,
    // What one person pays is counted together, so of two payments at once the second must see the first.
    apart: (call) => [
      ...decidingWithdrawals.apart(call),
      ...(call.input.decision === 'pay' ? [`paid by ${call.actor}`, `paid by ${call.caller.id}`] : []),
    ],
    async load(calls, { db }) {
      const found = await decidingWithdrawals.load(calls, { db })
      const alone = calls.flatMap(({ input, actor: person, caller }, index) => {
        const { approvedBy = null, approvedById = null, playerId = '', environment } = found[index] ?? {}
        const { id: personId, kind } = caller
        const isMachine = kind === 'machine'
        const isApprover = approvedBy === person || approvedById === personId
        const isAlone = input.decision === 'pay' && environment === 'production' && (isApprover || isMachine)
        return isAlone ? [{ index, playerId, person, personId, isMachine }] : []
      })
      // Another process may be paying for the same player.
      if (alone.length > 0) await lockDepositors(db, alone)
      const sums = await sumPaidAlone(db, alone)
      const paid = new Map(alone.map(({ index }, place) => [index, sums[place]]))
      return found.map((withdrawal, index) => ({ withdrawal, paid: paid.get(index) ?? 0n }))
    },
    decide(call, { withdrawal: found, paid }, { now }) {
      const { decision } = call.input
      if (found !== undefined) refuseUnlessSeen(call.input, found)
      const by = { kind: 'team', name: call.actor, id: call.caller.id } as const
      const payAlone = { upTo: payAloneUpTo, paid, byMachine: call.caller.kind === 'machine' }
      const { withdrawal, ...decided } = decideOnWithdrawal(call, found, { decision, by, now, payAlone })
      // The reply is sent only when the wallet has done its part.
      return { reply: teamWithdrawal({ ...withdrawal, settling: false }), ...decided }
    },
  })

/**
 * People decide about what they have read, and their signature says what that was.
 * @throws {Rejection} WITHDRAWAL_NOT_AS_SEEN, with both
 */
function refuseUnlessSeen(
  { withdrawalId, playerId, amount, currency, destinationDigest }: Input<typeof operations.payments.decideWithdrawal>,
  withdrawal: WithdrawalRecord,
): void {
  const seen: ReturnType<typeof seenOfWithdrawal> = { playerId, amount, currency, destinationDigest }
  const held = seenOfWithdrawal({ ...withdrawal, amount: fromMinorUnits(withdrawal.amount) })
  if ((Object.keys(held) as (keyof typeof held)[]).some((name) => seen[name] !== held[name]))
    throw new Rejection('WITHDRAWAL_NOT_AS_SEEN', { withdrawalId, seen, held })
}
