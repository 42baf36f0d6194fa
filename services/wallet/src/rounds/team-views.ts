import { fromMinorUnits, type TeamPlay, type TeamRound } from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import { ledgerItemId } from '../statement/views.ts'
import type { PlayRow, RoundRow } from './team-records.ts'

/** A round as the team reads it. */
export function teamRound({ providerRoundId, staked, won, rolledBack, ...round }: RoundRow): TeamRound {
  return {
    ...withIsoTimes(round),
    roundId: providerRoundId,
    staked: fromMinorUnits(staked),
    won: fromMinorUnits(won),
    rolledBack: fromMinorUnits(rolledBack),
  }
}

/** A play as the team reads it. */
export function teamPlay(row: PlayRow): TeamPlay {
  const {
    roundId,
    providerRoundId,
    refusedWith,
    refusedDetails,
    amount,
    balanceAfter,
    transferId,
    isUndone,
    standing,
    bodyDigest,
    ...play
  } = withIsoTimes(row)
  const moved = (row.outcome === 'posted' ? row.amount : null) ?? 0n
  return {
    ...play,
    code: refusedWith,
    rolledBack: isUndone,
    roundId: providerRoundId,
    round: roundId,
    amount: fromMinorUnits(moved),
    requestedAmount: amount === null ? null : fromMinorUnits(amount),
    balanceBefore: fromMinorUnits(row.kind === 'bet' ? balanceAfter + moved : balanceAfter - moved),
    balanceAfter: fromMinorUnits(balanceAfter),
    entryId: transferId === null ? null : ledgerItemId(transferId),
    standing: standing === null ? null : JSON.parse(standing),
    refusedDetails,
    bodyDigest: row.bodyDigest.toString('hex'),
  }
}
