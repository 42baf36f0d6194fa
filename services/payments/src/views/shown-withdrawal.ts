import type { ReadDb } from '@backoffice/service-runtime'
import { beforeLastTransition, hasEnded } from '../domain/withdrawal.ts'
import { listTransitions } from '../storage/transitions.ts'
import { type Listed, withUnfinished } from '../storage/unfinished.ts'
import type { WithdrawalRecord } from '../storage/withdrawals.ts'

/** A withdrawal as it may be shown: in its former status until the wallet has released or captured its hold. */
export type ShownWithdrawal = WithdrawalRecord & { readonly settling: boolean }

/** How withdrawals that have just been read may be shown. */
export async function shownWithdrawals(
  db: ReadDb,
  withdrawals: readonly WithdrawalRecord[],
): Promise<ShownWithdrawal[]> {
  const checked = await withUnfinished(db, withdrawals, hasEnded)
  return shownListed(
    db,
    checked.map(({ unfinished, ...withdrawal }) => ({ ...withdrawal, settling: unfinished !== null })),
  )
}

/** How withdrawals of a list are shown. */
export async function shownListed(
  db: ReadDb,
  withdrawals: readonly Listed<WithdrawalRecord>[],
): Promise<ShownWithdrawal[]> {
  const settling = withdrawals.filter((withdrawal) => withdrawal.settling).map(({ id }) => id)
  const histories = await listTransitions(db, settling)
  return withdrawals.map((withdrawal) => {
    const history = histories.get(withdrawal.id)
    return history === undefined ? withdrawal : beforeLastTransition(withdrawal, history)
  })
}
