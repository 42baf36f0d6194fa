import { type Input, operations, type ReconciliationReport } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'
import { eventually } from './eventually.ts'

/**
 * What a reconciliation finds, asked for by somebody of the team: one over everything, unless the input says otherwise.
 * @throws when it fails
 */
export async function reconcile(
  team: Pick<RpcClient, 'call'>,
  input: Input<typeof operations.reconciler.reconcileWallet> = {},
): Promise<ReconciliationReport> {
  const { reconcileWallet } = operations.reconciler
  const { runId } = await eventually(() => team.call(reconcileWallet, { input }))
  const { state, report, failure } = await eventually(async () => {
    const run = await team.call(reconcileWallet, { input: { runId } })
    return (run.state === 'failed' || run.report !== null) && run
  })
  if (report === null || state === 'failed') throw new Error(failure ?? 'failed')
  return report
}
