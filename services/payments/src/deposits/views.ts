import { fromMinorUnits, type Deposit as PublicDeposit, type TeamDeposit } from '@backoffice/contracts'
import { type ReadDb, withIsoTimes } from '@backoffice/service-runtime'
import { type ListedRecord, withUnfinished } from '../records.ts'
import { beforeSettling, isConfirmed, type StoredDeposit } from './deposit.ts'
import type { DepositRecord } from './records.ts'

/** A deposit as operators see it. */
export function publicDeposit(deposit: StoredDeposit): PublicDeposit {
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

/** A deposit as it may be shown: it stays pending until the wallet has been credited. */
type ShownDeposit = DepositRecord & { readonly settling: boolean }

/** How deposits that have just been read may be shown. */
export async function shownDeposits(db: ReadDb, deposits: readonly DepositRecord[]): Promise<ShownDeposit[]> {
  const checked = await withUnfinished(db, deposits, isConfirmed)
  return checked.map(({ unfinished, ...deposit }) => shownListed({ ...deposit, settling: unfinished !== null }))
}

/** How a deposit of a list is shown. */
export const shownListed = (deposit: ListedRecord<DepositRecord>): ShownDeposit =>
  deposit.settling ? { ...beforeSettling(deposit), settling: true } : deposit
