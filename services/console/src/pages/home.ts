import { operations } from '@backoffice/contracts'
import { whenAway } from '../pieces/away.ts'
import { queueStates } from '../pieces/counts.ts'
import type { Pages } from '../pieces/visit.ts'
import { failingEndpoints } from './endpoints.ts'
import { latestRun } from './reconcile.ts'

const { listReconciliations } = operations.reconciler
const { listEndpoints } = operations.webhooks

/** Longer than this, and whoever waits has reason to complain. */
export const lateAfterHours = 24

/** For a part of the page whose service is away: the queues are shown all the same. */
const unknown = whenAway('unknown' as const)

export const homePages: Pages = (route) => {
  route.get('', async (visit) => {
    const { person } = visit
    const [queues, run, endpoints] = await Promise.all([
      queueStates(visit),
      latestRun(visit).catch(unknown),
      failingEndpoints(visit).catch(unknown),
    ])
    const may = { mayReconcile: person.mayCall(listReconciliations), mayListEndpoints: person.mayCall(listEndpoints) }
    return visit.show('home', { queues, run, endpoints, ...may, lateAfterHours })
  })
}
