import type { ReadDb } from '@backoffice/service-runtime'
import { beforeSettling } from '../domain/deposit.ts'
import type { DepositRecord } from '../storage/deposits.ts'
import { findUnfinished } from '../storage/unfinished.ts'

/** A deposit as it may be shown: still pending as long as the wallet has not been credited. */
export type ShownDeposit = DepositRecord & { readonly settling: boolean }

/**
 * How deposits that have just been read may be shown. They are read first: a command that is done by now makes the newer
 * state true, while one that was sent since cannot belong to the state that was read.
 */
export async function shownDeposits(db: ReadDb, deposits: readonly DepositRecord[]): Promise<ShownDeposit[]> {
  const confirmed = deposits.filter(({ status }) => status === 'confirmed')
  const unfinished = await findUnfinished(
    db,
    confirmed.map(({ id }) => id),
  )
  return deposits.map((deposit) => {
    const settling = unfinished.has(deposit.id)
    return { ...(settling ? beforeSettling(deposit) : deposit), settling }
  })
}
