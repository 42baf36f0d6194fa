import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { Reconciler } from '../reconciliation/reconciler.ts'

export const reconcileWallet = (reconciler: Reconciler) =>
  handle(operations.reconciler.reconcileWallet, async ({ input: { runId, full = true }, actor, operationId }) => {
    const run =
      runId === undefined
        ? await reconciler.begin({ id: operationId, startedBy: actor, isFull: full })
        : await reconciler.find(runId)
    const { id, state, progress, report, failure } = run
    return { runId: id, state, progress, report, failure }
  })
