import type { ReadDb } from '@backoffice/service-runtime'
import { beforeSettling, isConfirmed } from '../domain/deposit.ts'
import type { DepositRecord } from '../storage/deposits.ts'
import { type Listed, withUnfinished } from '../storage/unfinished.ts'

/** A deposit as it may be shown: it stays pending until the wallet has been credited. */
export type ShownDeposit = DepositRecord & { readonly settling: boolean }

/** How deposits that have just been read may be shown. */
export async function shownDeposits(db: ReadDb, deposits: readonly DepositRecord[]): Promise<ShownDeposit[]> {
  const checked = await withUnfinished(db, deposits, isConfirmed)
  return checked.map(({ unfinished, ...deposit }) => shownListed({ ...deposit, settling: unfinished !== null }))
}

/** How a deposit of a list is shown. */
export const shownListed = (deposit: Listed<DepositRecord>): ShownDeposit =>
  deposit.settling ? { ...beforeSettling(deposit), settling: true } : deposit
