import { fromMinorUnits, type Deposit as PublicDeposit, type TeamDeposit } from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import type { Deposit } from '../domain/deposit.ts'
import type { ShownDeposit } from './shown-deposit.ts'

/** A deposit as operators see it. */
export function publicDeposit(deposit: Deposit): PublicDeposit {
  const { id, playerId, currency, method, externalReference, status, failureReason } = deposit
  const { createdAt, confirmedAt, failedAt } = deposit
  return {
    ...{ id, playerId, amount: fromMinorUnits(deposit.amount), currency, method, externalReference },
    ...withIsoTimes({ status, failureReason, createdAt, confirmedAt, failedAt }),
  }
}

/** A deposit as the team sees it. */
export function teamDeposit(shown: ShownDeposit): TeamDeposit {
  const { operatorId, brandId, environment, timeZone, version, settling } = shown
  return { ...publicDeposit(shown), operatorId, brandId, environment, timeZone, version, settling }
}
