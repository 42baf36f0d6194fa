import { queueStates } from './counts.ts'
import type { Pages } from './route.ts'

/** Longer than this, and whoever waits has reason to complain. */
export const lateAfterHours = 24

export const homePages: Pages = (route) => {
  route.get('', async (visit) => visit.show('home', { queues: await queueStates(visit), lateAfterHours }))
}
