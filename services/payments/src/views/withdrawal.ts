import { fromMinorUnits, type Withdrawal as PublicWithdrawal, type TeamWithdrawal } from '@backoffice/contracts'
import type { Withdrawal } from '../domain/withdrawal.ts'
import type { ShownWithdrawal } from './shown-withdrawal.ts'

/** A withdrawal as operators see it. */
export function publicWithdrawal(withdrawal: Withdrawal): PublicWithdrawal {
  return {
    id: withdrawal.id,
    playerId: withdrawal.playerId,
    amount: fromMinorUnits(withdrawal.amount),
    currency: withdrawal.currency,
    method: withdrawal.method,
    destination: withdrawal.destination,
    status: withdrawal.status,
    reason: withdrawal.reason,
    createdAt: withdrawal.createdAt.toISOString(),
    updatedAt: withdrawal.updatedAt.toISOString(),
    reviewedAt: withdrawal.reviewedAt?.toISOString() ?? null,
    paidAt: withdrawal.paidAt?.toISOString() ?? null,
  }
}

/** A withdrawal as the team sees it. */
export function teamWithdrawal(shown: ShownWithdrawal): TeamWithdrawal {
  const { operatorId, brandId, environment, timeZone, version, settling } = shown
  return { ...publicWithdrawal(shown), operatorId, brandId, environment, timeZone, version, settling }
}
