import { fromMinorUnits, type Input, operations, Rejection, seenOfWithdrawal } from '@backoffice/contracts'
import { type Call, handle } from '@backoffice/service-runtime'
import { isPaidAlone, payTakesTwo, takesSomebodyElse } from '../domain/withdrawal.ts'
import { decideOnWithdrawal, decidingWithdrawals } from '../steps/decide-withdrawals.ts'
import { lockDepositors } from '../storage/deposits.ts'
import { sumPaidAlone } from '../storage/paid-alone.ts'
import type { WithdrawalRecord } from '../storage/withdrawals.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

type DecisionCall = Call<typeof operations.payments.decideWithdrawal>

const personOf = ({ actor: name, caller: { id, kind } }: DecisionCall) =>
  ({ kind: 'team', name, id, isMachine: kind === 'machine' }) as const

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
      const alone = found.filter((withdrawal, index) => isAlone(calls[index], withdrawal)) as WithdrawalRecord[]
      // Another process may be paying for the same player.
      if (alone.length > 0) await lockDepositors(db, alone)
      return found
    },
    /** The approval was the first person's part. Above an amount whoever pays must be somebody else. */
    async approval(call, { db }, withdrawal) {
      if (withdrawal === undefined || !isAlone(call, withdrawal)) return 'nobody'
      const { name: person, id: personId, isMachine } = personOf(call)
      const [paid = 0n] = await sumPaidAlone(db, [{ playerId: withdrawal.playerId, person, personId, isMachine }])
      if (payTakesTwo(withdrawal, { upTo: payAloneUpTo, paid })) throw takesSomebodyElse(withdrawal)
      return 'nobody'
    },
    decide(call, found, { now }) {
      if (found !== undefined) refuseUnlessSeen(call.input, found)
      const { isMachine: _, ...by } = personOf(call)
      const { withdrawal, changed, ...decided } = decideOnWithdrawal(call, found, {
        decision: call.input.decision,
        by,
        now,
      })
      // Says why one person was enough, whatever the setting is when somebody reads it.
      const because = { field: 'payAloneUpTo', before: null, after: fromMinorUnits(payAloneUpTo) }
      return {
        // The reply is sent only when the wallet has done its part.
        reply: teamWithdrawal({ ...withdrawal, settling: false }),
        ...decided,
        changed: isAlone(call, found) ? [...changed, because] : changed,
      }
    },
  })

const isAlone = (call: DecisionCall | undefined, withdrawal: WithdrawalRecord | undefined): boolean =>
  call?.input.decision === 'pay' && withdrawal !== undefined && isPaidAlone(withdrawal, personOf(call))

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
