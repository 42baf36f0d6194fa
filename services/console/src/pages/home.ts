import { operations } from '@backoffice/contracts'
import { queueStates } from './counts.ts'
import { latestRun } from './reconcile.ts'
import type { Pages } from './route.ts'

const { listReconciliations } = operations.wallet

/** Longer than this, and whoever waits has reason to complain. */
export const lateAfterHours = 24

export const homePages: Pages = (route) => {
  route.get('', async (visit) => {
    const [queues, run] = await Promise.all([queueStates(visit), latestRun(visit)])
    return visit.show('home', { queues, run, mayReconcile: visit.person.mayCall(listReconciliations), lateAfterHours })
  })
}
