import type { ReadDb } from '@backoffice/service-runtime'
import { beforeLastTransition, isFinal } from '../domain/withdrawal.ts'
import { listTransitions } from '../storage/transitions.ts'
import { findUnfinished } from '../storage/unfinished.ts'
import type { WithdrawalRecord } from '../storage/withdrawals.ts'

/** A withdrawal as it may be shown: in its former status until the wallet has released or captured its hold. */
export type ShownWithdrawal = WithdrawalRecord & { readonly settling: boolean }

/**
 * How withdrawals that have just been read may be shown. They are read first: a command that is done by now makes the newer
 * state true, while one that was sent since cannot belong to the state that was read.
 */
export async function shownWithdrawals(
  db: ReadDb,
  withdrawals: readonly WithdrawalRecord[],
): Promise<ShownWithdrawal[]> {
  // Only the last transition of a withdrawal leaves the wallet a command.
  const ended = withdrawals.filter(({ status }) => isFinal(status))
  const unfinished = await findUnfinished(
    db,
    ended.map(({ id }) => id),
  )
  const histories = await listTransitions(db, [...unfinished.keys()])
  return withdrawals.map((withdrawal) => {
    const history = histories.get(withdrawal.id)
    return history === undefined
      ? { ...withdrawal, settling: false }
      : { ...beforeLastTransition(withdrawal, history), settling: true }
  })
}
