import { operations } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { listRuns } from '../storage/reconciliations.ts'

export const listReconciliations = handle(operations.reconciler.listReconciliations, async ({ input }, { db }) => {
  const { before, limit } = input
  const runs = await listRuns(db, { before: before ?? null, limit: limit + 1 })
  return toPage(runs.map(withIsoTimes), limit, ({ runId }) => runId)
})
