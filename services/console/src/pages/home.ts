import { operations, Rejection } from '@backoffice/contracts'
import { queueStates } from './counts.ts'
import { latestRun } from './reconcile.ts'
import type { Pages } from './route.ts'

const { listReconciliations } = operations.wallet

/** Longer than this, and whoever waits has reason to complain. */
export const lateAfterHours = 24

/** The queues are there while the wallet is away. */
function unknown(error: unknown): 'unknown' {
  if (!(error instanceof Rejection) || error.code !== 'SERVICE_UNAVAILABLE') throw error
  return 'unknown'
}

export const homePages: Pages = (route) => {
  route.get('', async (visit) => {
    const [queues, run] = await Promise.all([queueStates(visit), latestRun(visit).catch(unknown)])
    return visit.show('home', { queues, run, mayReconcile: visit.person.mayCall(listReconciliations), lateAfterHours })
  })
}
