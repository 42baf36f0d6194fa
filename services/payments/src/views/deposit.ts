import { fromMinorUnits, type Deposit as PublicDeposit, type TeamDeposit } from '@backoffice/contracts'
import type { Deposit } from '../domain/deposit.ts'
import type { ShownDeposit } from './shown-deposit.ts'

/** A deposit as operators see it. */
export function publicDeposit(deposit: Deposit): PublicDeposit {
  return {
    id: deposit.id,
    playerId: deposit.playerId,
    amount: fromMinorUnits(deposit.amount),
    currency: deposit.currency,
    method: deposit.method,
    externalReference: deposit.externalReference,
    status: deposit.status,
    failureReason: deposit.failureReason,
    createdAt: deposit.createdAt.toISOString(),
    confirmedAt: deposit.confirmedAt?.toISOString() ?? null,
    failedAt: deposit.failedAt?.toISOString() ?? null,
  }
}

/** A deposit as the team sees it. */
export function teamDeposit(shown: ShownDeposit): TeamDeposit {
  const { operatorId, brandId, environment, timeZone, version, settling } = shown
  return { ...publicDeposit(shown), operatorId, brandId, environment, timeZone, version, settling }
}
