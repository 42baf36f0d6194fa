import { type Input, operations, type ReconciliationReport } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'
import { eventually } from './eventually.ts'

const timeoutMsDefault = 60_000

/**
 * What a reconciliation finds, asked for by somebody of the team: one over everything, unless the input says otherwise.
 * @throws when it fails, or has not ended in time
 */
export async function reconcile(
  team: Pick<RpcClient, 'call'>,
  timeoutMs = timeoutMsDefault,
  input: Input<typeof operations.reconciler.reconcileWallet> = {},
): Promise<ReconciliationReport> {
  const { reconcileWallet } = operations.reconciler
  const { runId } = await eventually(() => team.call(reconcileWallet, { input }), timeoutMs)
  return eventually(async () => {
    const { state, report, failure } = await team.call(reconcileWallet, { input: { runId } })
    if (state === 'failed') throw new Error(failure ?? 'failed')
    return report ?? false
  }, timeoutMs)
}
