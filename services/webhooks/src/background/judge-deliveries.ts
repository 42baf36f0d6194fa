import { eventKinds, events } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import { forgetFound, judgeEvents } from '../storage/judged-events.ts'

/** Whoever publishes what this service reacts to. */
const publishers = [
  ...new Set(
    eventKinds
      .map((kind) => events[kind])
      .filter(({ consumedBy }) => (consumedBy as readonly string[]).includes('webhooks'))
      .map(({ emittedBy }) => emittedBy),
  ),
]
const everyMs = 30_000
const loggedMax = 20

/**
 * Holds what the services published against the deliveries: whatever lost an event on its way, or a delivery afterwards, an
 * alert names it within ten minutes.
 */
export const deliveryJudge = ({ db, log }: Pick<ServiceContext, 'db' | 'log'>): Loop =>
  new Loop({
    name: 'judging deliveries',
    log,
    everyMs,
    async run() {
      await db.transaction(forgetFound)
      let isMore = false
      for (const service of publishers) {
        const judged = await db.transaction((tx) => judgeEvents(tx, service))
        isMore ||= judged.isMore
        const { missing } = judged
        if (missing.length > 0)
          log.error(
            { publisher: service, count: missing.length, eventIds: missing.slice(0, loggedMax) },
            'published events have no delivery',
          )
      }
      return isMore
    },
  })
