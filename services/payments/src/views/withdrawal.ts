import { fromMinorUnits, type Withdrawal as PublicWithdrawal, type TeamWithdrawal } from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import type { Withdrawal } from '../domain/withdrawal.ts'
import type { ShownWithdrawal } from './shown-withdrawal.ts'

/** A withdrawal as operators see it. */
export function publicWithdrawal(withdrawal: Withdrawal): PublicWithdrawal {
  const { id, playerId, currency, method, destination, status, reason } = withdrawal
  const { createdAt, updatedAt, reviewedAt, paidAt } = withdrawal
  return {
    ...{ id, playerId, amount: fromMinorUnits(withdrawal.amount), currency, method, destination },
    ...withIsoTimes({ status, reason, createdAt, updatedAt, reviewedAt, paidAt }),
  }
}

/** A withdrawal as the team sees it. */
export function teamWithdrawal(shown: ShownWithdrawal): TeamWithdrawal {
  const { operatorId, brandId, environment, timeZone, version, settling, approvedBy } = shown
  return { ...publicWithdrawal(shown), operatorId, brandId, environment, timeZone, version, settling, approvedBy }
}
