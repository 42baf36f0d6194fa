import { fromMinorUnits, type Deposit as PublicDeposit, type TeamDeposit } from '@backoffice/contracts'
import { beforeSettling, type Deposit } from '../domain/deposit.ts'
import type { DepositRecord } from '../storage/deposits.ts'

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

/** A deposit as the team sees it: still pending as long as the wallet has not been credited. */
export function teamDeposit(deposit: DepositRecord, { settling }: { readonly settling: boolean }): TeamDeposit {
  const shown = settling ? beforeSettling(deposit) : deposit
  const { operatorId, brandId, environment, timeZone, version } = shown
  return { ...publicDeposit(shown), operatorId, brandId, environment, timeZone, version, settling }
}
