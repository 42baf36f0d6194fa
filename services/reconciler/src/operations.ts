import type { HandlersOf } from '@backoffice/service-runtime'
import type { HeadStore } from './heads/store.ts'
import { listReconciliations, reconcileWallet, recordRestore } from './operations/reconciliations.ts'
import type { Reconciler } from './reconciliation/reconciler.ts'

/** @param heads where heads of chains are exported to, if they are */
export const handlers = (reconciler: Reconciler, heads: HeadStore | undefined): HandlersOf<'reconciler'> => ({
  reconcileWallet: reconcileWallet(reconciler),
  listReconciliations,
  recordRestore: recordRestore(heads),
})
