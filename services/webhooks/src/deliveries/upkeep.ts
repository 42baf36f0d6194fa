import { eventKinds, events } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import { lockDisabledEndpoint } from '../endpoints/records.ts'
import { forgetFound, judgeEvents } from './judged-events.ts'
import { withholdDeliveries } from './records.ts'

/** Whoever publishes what this service reacts to. */
const publishers = [
  ...new Set(
    eventKinds
      .map((kind) => events[kind])
      .filter(({ consumedBy }) => (consumedBy as readonly string[]).includes('webhooks'))
      .map(({ emittedBy }) => emittedBy),
  ),
]
const judgedEveryMs = 30_000
const loggedMax = 20

/**
 * Holds what the services published against the deliveries: whatever lost an event on its way, or a delivery afterwards, an
 * alert names it within ten minutes.
 */
export const deliveryJudge = ({ db, log }: Pick<ServiceContext, 'db' | 'log'>): Loop =>
  new Loop({
    name: 'judging deliveries',
    log,
    everyMs: judgedEveryMs,
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

const withheldEveryMs = 2_000

/**
 * Withholds what still waits for endpoints that are disabled, page by page. Disabling withholds the first page itself. The
 * rest would keep the endpoint's row and a connection for as long as the backlog is large.
 */
export const backlogWithholding = ({ db, clock, log }: Pick<ServiceContext, 'db' | 'clock' | 'log'>): Loop =>
  new Loop({
    name: 'withholding backlogs',
    log,
    everyMs: withheldEveryMs,
    run: () =>
      db.transaction(async (tx) => {
        const id = await lockDisabledEndpoint(tx)
        if (id === null) return false
        return (await withholdDeliveries(tx, id, clock.now())) > 0
      }),
  })
