import { invalid, operations } from '@backoffice/contracts'
import { handle, recordAction } from '@backoffice/service-runtime'
import { listRestores, type Restore, writeRestore } from '../heads/restores.ts'
import type { HeadStore } from '../heads/store.ts'

const operation = operations.wallet.recordRestore

/** @param store where heads of chains are exported to, if they are */
export const recordRestore = (store: HeadStore | undefined) =>
  handle(operation, async (call, { db, now }) => {
    const restoredTo = new Date(call.input.restoredTo)
    if (restoredTo >= now) throw invalid('body', '/restoredTo', 'must be in the past')
    if (store === undefined) throw invalid('body', '/restoredTo', 'heads are not exported, so nothing is to be ended')
    const restores = await listRestores(store)
    const known = restores.find((restore) => restore.restoredTo.getTime() === restoredTo.getTime())
    // Recorded anew, it would also end what was exported since.
    if (known !== undefined) return replyOf(known)
    const restore = { restoredTo, recordedAt: now, recordedBy: call.actor, reason: call.input.reason }
    // First, so that nothing ends heads without a name in the audit trail. A retry after a crash in between records it again.
    await recordAction(db, operation, call, now)
    await writeRestore(store, restore)
    return replyOf(restore)
  })

const replyOf = ({ restoredTo, recordedAt }: Restore) => ({
  restoredTo: restoredTo.toISOString(),
  recordedAt: recordedAt.toISOString(),
})
