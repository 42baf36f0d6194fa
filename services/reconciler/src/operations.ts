import { invalid, operations } from '@backoffice/contracts'
import {
  type Call,
  DatabaseHistory,
  type Db,
  type HandlersOf,
  handle,
  toPage,
  withIsoTimes,
} from '@backoffice/service-runtime'
import { recordAction } from '@backoffice/team-access'
import { listRestores, type Restore, undoneBy, writeRestore } from './heads/exports.ts'
import type { HeadStore } from './heads/store.ts'
import type { Reconciler } from './reconciliation/reconciler.ts'
import { listRuns } from './storage/reconciliations.ts'

export const listReconciliations = handle(operations.reconciler.listReconciliations, async ({ input }, { db }) => {
  const { before, limit } = input
  const runs = await listRuns(db, { before: before ?? null, limit: limit + 1 })
  return toPage(runs.map(withIsoTimes), limit, ({ runId }) => runId)
})

export const reconcileWallet = (reconciler: Reconciler) =>
  handle(operations.reconciler.reconcileWallet, async ({ input, actor, operationId }) => {
    const { runId, restoredTo, full = restoredTo === undefined } = input
    const run =
      runId === undefined
        ? await reconciler.begin({
            ...{ id: operationId, startedBy: actor, isFull: full },
            restoredTo: restoredTo === undefined ? undefined : new Date(restoredTo),
          })
        : await reconciler.find(runId)
    const { id, state, progress, report, failure } = run
    return { runId: id, state, progress, report, failure }
  })

const operation = operations.reconciler.recordRestore

/** @param store where heads of chains are exported to, if they are */
export const recordRestore = (store: HeadStore | undefined) =>
  handle(operation, {
    /** By the table always; but nobody is asked to approve what is refused. */
    async approval(call, tools) {
      await restoreOf(call, tools, store)
      return 'second person'
    },
    async run(call, tools) {
      const { restore, isKnown } = await restoreOf(call, tools, store)
      // Recorded anew, it would also end what was exported since.
      if (isKnown) return replyOf(restore)
      // First, so that nothing ends heads without a name in the audit trail. A retry after a crash in between records it again.
      await recordAction(tools.db, operation, call, tools.now)
      await writeRestore(storeOrRefuse(store), restore)
      return replyOf(restore)
    },
  })

/** @throws {Rejection} VALIDATION_ERROR unless exports are of another history than the database, and so of a future that is gone */
async function restoreOf(
  { input, actor }: Call<typeof operation>,
  { db, now }: { readonly db: Db; readonly now: Date },
  maybe: HeadStore | undefined,
): Promise<{ readonly restore: Restore; readonly isKnown: boolean }> {
  const store = storeOrRefuse(maybe)
  const restoredTo = new Date(input.restoredTo)
  if (restoredTo >= now) throw invalid('body', '/restoredTo', 'must be in the past')
  const restores = await listRestores(store)
  const known = restores.find((restore) => restore.restoredTo.getTime() === restoredTo.getTime())
  if (known !== undefined) return { restore: known, isKnown: true }
  const history = await new DatabaseHistory(db).name()
  const restore = { restoredTo, recordedAt: now, recordedBy: actor, reason: input.reason, history }
  const undone = await undoneBy(store, restore)
  if (undone.length === 0)
    throw invalid('body', '/restoredTo', 'the database is on the history of all exports since then: nothing was undone')
  return { restore: { ...restore, exportsSilenced: undone.length }, isKnown: false }
}

function storeOrRefuse(store: HeadStore | undefined): HeadStore {
  if (store === undefined) throw invalid('body', '/restoredTo', 'heads are not exported, so nothing is to be ended')
  return store
}

const replyOf = ({ restoredTo, recordedAt }: Restore) => ({
  restoredTo: restoredTo.toISOString(),
  recordedAt: recordedAt.toISOString(),
})

/** @param heads where heads of chains are exported to, if they are */
export const handlers = (reconciler: Reconciler, heads: HeadStore | undefined): HandlersOf<'reconciler'> => ({
  reconcileWallet: reconcileWallet(reconciler),
  listReconciliations,
  recordRestore: recordRestore(heads),
})
