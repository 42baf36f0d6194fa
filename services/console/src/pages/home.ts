import { setTimeout as wait } from 'node:timers/promises'
import { operations } from '@backoffice/contracts'
import { whenAway } from '../identity/person.ts'
import { queueStates, sendEvents } from '../pieces/counts.ts'
import { lateAfterHours } from '../pieces/filters.ts'
import { picturesFor } from '../pieces/pictures.ts'
import { inParts } from '../pieces/rest.ts'
import type { Pages, Visit } from '../pieces/visit.ts'
import { failingEndpoints } from './endpoints.ts'
import { latestRun } from './reconcile.ts'

const { listReconciliations } = operations.reconciler
const { listEndpoints } = operations.webhooks

/** For a part of the page whose service is away: the queues are shown all the same. */
const unknown = whenAway('unknown' as const)

const everyMs = 15_000

export const homePages: Pages = (route, context) => {
  route.get('', async (whole) => {
    const visit = inParts(whole)
    const { person } = visit
    const [queues, run, endpoints, pictures] = await Promise.all([
      queueStates(visit),
      latestRun(visit).catch(unknown),
      failingEndpoints(visit).catch(unknown),
      picturesFor(visit),
    ])
    const may = { mayReconcile: person.mayCall(listReconciliations), mayListEndpoints: person.mayCall(listEndpoints) }
    return visit.show('home', { queues, run, endpoints, pictures, ...may, lateAfterHours })
  })
  // The counts of the queues as they change.
  route.get('/live', (visit) => sendEvents(visit, context, (signal) => countsOf(visit, signal)))
}

async function* countsOf(visit: Visit, signal: AbortSignal): AsyncGenerator<string> {
  while (!signal.aborted) {
    const states = await queueStates(visit)
    // What is not known now stays as it was.
    const counts = Object.fromEntries(states.flatMap(({ name, count }) => (count === null ? [] : [[name, count]])))
    yield `event: counts\ndata: ${JSON.stringify(counts)}\n\n`
    await wait(everyMs, undefined, { signal }).catch(() => {})
  }
}
