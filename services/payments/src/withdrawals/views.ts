import {
  fromMinorUnits,
  otherPlayersMax,
  type Withdrawal as PublicWithdrawal,
  type TeamWithdrawal,
  type WithdrawalFacts,
} from '@backoffice/contracts'
import { type ReadDb, withIsoTimes } from '@backoffice/service-runtime'
import { asListed, type ListedRecord, listTransitions, type ShownRecord, settled } from '../records.ts'
import { readOtherPlayers } from './destination.ts'
import { readPasts, type WithdrawalRecord } from './records.ts'
import { beforeLastTransition, hasEnded, isDestinationKnown, type StoredWithdrawal, sumsBegin } from './withdrawal.ts'

/** A withdrawal as operators see it. */
export function publicWithdrawal(withdrawal: ShownRecord<StoredWithdrawal>): PublicWithdrawal {
  const { id, playerId, currency, method, destination, status, reason } = withdrawal
  const { createdAt, updatedAt, reviewedAt, paidAt } = withdrawal
  return {
    ...{ id, playerId, amount: fromMinorUnits(withdrawal.amount), currency, method, destination },
    ...withIsoTimes({ status, reason, createdAt, updatedAt, reviewedAt, paidAt }),
  }
}

/** A withdrawal as the team sees it. */
export function teamWithdrawal(shown: ShownRecord<WithdrawalRecord>): TeamWithdrawal {
  const { operatorId, brandId, environment, timeZone, version, settling, approvedBy } = shown
  return { ...publicWithdrawal(shown), operatorId, brandId, environment, timeZone, version, settling, approvedBy }
}

/** How withdrawals that have just been read may be shown. */
export const shownWithdrawals = async (db: ReadDb, withdrawals: readonly WithdrawalRecord[]) =>
  shownListed(db, await asListed(db, withdrawals, hasEnded))

/** How withdrawals of a list are shown: as before, until the wallet has released or captured the hold. */
export async function shownListed(
  db: ReadDb,
  withdrawals: readonly ListedRecord<WithdrawalRecord>[],
): Promise<ShownRecord<WithdrawalRecord>[]> {
  const settling = withdrawals.filter(({ isSettling }) => isSettling).map(({ id }) => id)
  const histories = await listTransitions(db, settling)
  return withdrawals.map((withdrawal) => {
    const history = histories.get(withdrawal.id)
    return history === undefined
      ? settled(withdrawal)
      : { ...beforeLastTransition(withdrawal, history), settling: true }
  })
}

/** What helps to decide about each withdrawal, in order. */
export async function factsOf(
  db: ReadDb,
  withdrawals: readonly ShownRecord<WithdrawalRecord>[],
  now: Date,
): Promise<WithdrawalFacts[]> {
  const [pasts, others] = await Promise.all([
    readPasts(db, withdrawals, sumsBegin(now)),
    readOtherPlayers(db, withdrawals, otherPlayersMax.counted),
  ])
  return pasts.map((past, index) => {
    const { id = '', method = '', destination = '' } = withdrawals[index] ?? {}
    const playerIds = others.get(id) ?? []
    const players = playerIds.slice(0, otherPlayersMax.named).map((playerId) => ({ playerId }))
    return {
      firstWithdrawal: !past.paidBefore,
      destinationUsedBefore: isDestinationKnown({ method, destination }, past),
      otherPlayers: { count: playerIds.length, players },
      deposits30Days: shownSum(past.deposits),
      withdrawals30Days: shownSum(past.withdrawals),
    }
  })
}

const shownSum = ({ count, amount }: { readonly count: number; readonly amount: bigint }) => ({
  count,
  amount: fromMinorUnits(amount),
})
