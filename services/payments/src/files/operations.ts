import { batchKeyOf, fromMinorUnits, invalid, operations, Rejection, refuseUnlessSeen } from '@backoffice/contracts'
import { type Db, handle, sql, withIsoTimes } from '@backoffice/service-runtime'
import { readSignedCall } from '@backoffice/team-access'
import { inOrder } from '../records.ts'
import { findReserved, findWithdrawals, lockWithdrawals, type WithdrawalRecord } from '../withdrawals/records.ts'
import { shownWithdrawals } from '../withdrawals/views.ts'
import { discardFile, filesOf, findFile, insertFile, lockFile } from './records.ts'

/**
 * Under the locks of its withdrawals, so of two files at once that share one the second is refused. The file itself is written
 * by whoever reads this record, as often as it is asked for.
 */
export const makePaymentFile = handle(operations.payments.makePaymentFile, {
  async execute({ input, caller, operationId }, { db, now, newId, changed }) {
    const { ids, batchNumber = null, agreement = null } = input
    if (batchNumber !== null && agreement === null)
      throw invalid('body', '/agreement', 'is required with a batchNumber')
    const withdrawals = await lockApproved(db, ids)
    const [first, ...others] = withdrawals as [WithdrawalRecord, ...WithdrawalRecord[]]
    const { environment } = first
    if (others.some((other) => other.environment !== environment))
      throw invalid('body', '/ids', 'are of both environments')
    const noKey = batchNumber === null ? undefined : withdrawals.find((one) => batchKeyOf(one) === undefined)
    if (noKey !== undefined) throw invalid('body', '/ids', `${noKey.id} is to no Pix key`)
    const fileId = newId('pfl')
    const made = { madeBy: caller.name, madeById: caller.id, madeAt: now, operationId }
    await insertFile(db, { id: fileId, environment, withdrawalIds: ids, batchNumber, agreement, ...made })
    changed({ field: 'paymentFile', before: null, after: fileId })
    return { fileId }
  },
})

/** Those that may go into a file, in the order of `ids`; of each in this order it is looked why not. */
async function lockApproved(db: Db, ids: readonly string[]): Promise<readonly WithdrawalRecord[]> {
  const locked = await lockWithdrawals(db, ids)
  const found = locked.filter((withdrawal) => withdrawal !== undefined)
  if (found.length < ids.length) throw new Rejection('WITHDRAWAL_NOT_FOUND')
  // One that somebody has paid is `paid` here before the wallet has done its part.
  const other = found.find(({ status }) => status !== 'approved')
  if (other !== undefined)
    throw new Rejection('WITHDRAWAL_INVALID_STATE', { withdrawalId: other.id, status: other.status })
  const reserved = await findReserved(db, found)
  const unreserved = found.find(({ id }) => !reserved.has(id))
  if (unreserved !== undefined) throw new Rejection('WITHDRAWAL_NOT_RESERVED', { withdrawalId: unreserved.id })
  const [file] = (await filesOf(db, ids)).values()
  if (file !== undefined) {
    const { withdrawalId, id: fileId, madeBy, madeAt } = file
    throw new Rejection('WITHDRAWAL_IN_FILE', { withdrawalId, fileId, madeBy, madeAt: madeAt.toISOString() })
  }
  return found
}

/** Those that a discarded file sets free. What is paid stays paid, also while the wallet has its part to do. */
const waitingIn = (withdrawals: readonly (WithdrawalRecord | undefined)[]): number =>
  withdrawals.filter((withdrawal) => withdrawal?.status === 'approved').length

export const showPaymentFile = handle(operations.payments.showPaymentFile, async ({ input: { fileId } }, { db }) => {
  const file = await findFile(db, fileId)
  if (file === undefined) throw new Rejection('PAYMENT_FILE_NOT_FOUND')
  const { withdrawalIds, ...shown } = file
  const found = await findWithdrawals(db, withdrawalIds)
  const withdrawals = inOrder(withdrawalIds, await shownWithdrawals(db, found)).flatMap((one) =>
    one === undefined
      ? []
      : [{ id: one.id, amount: fromMinorUnits(one.amount), currency: one.currency, status: one.status }],
  )
  // A file is made at the time of its entry.
  const made = sql`
    e.at = ${file.madeAt}::timestamptz and e.operation = ${operations.payments.makePaymentFile.id}
    and e.operation_id = (select operation_id from payment_file where id = ${fileId})
  `
  const making = await readSignedCall(db, sql`payments.audit_evidence`, made)
  return { ...withIsoTimes(shown), making, waiting: waitingIn(found), withdrawals }
})

export const discardPaymentFile = handle(operations.payments.discardPaymentFile, {
  async execute({ input: { fileId, seen, reason }, caller }, { db, now, changed }) {
    const file = await lockFile(db, fileId)
    if (file === undefined) throw new Rejection('PAYMENT_FILE_NOT_FOUND')
    if (file.discardedAt !== null) throw new Rejection('PAYMENT_FILE_DISCARDED')
    const waiting = waitingIn(await lockWithdrawals(db, file.withdrawalIds))
    refuseUnlessSeen({ fileId }, seen, { environment: file.environment, waiting })
    await discardFile(db, fileId, { by: caller.name, byId: caller.id, at: now, reason })
    changed({ field: 'discarded', before: null, after: String(waiting) })
    return { fileId }
  },
})
