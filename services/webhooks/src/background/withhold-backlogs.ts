import { Loop } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import { withholdDeliveries } from '../storage/deliveries.ts'
import { lockDisabledEndpoint } from '../storage/endpoints.ts'

const everyMs = 2_000

/**
 * Withholds what still waits for endpoints that are disabled, page by page. Disabling withholds the first page itself. The
 * rest would keep the endpoint's row and a connection for as long as the backlog is large.
 */
export const backlogWithholding = ({ db, clock, log }: Pick<ServiceContext, 'db' | 'clock' | 'log'>): Loop =>
  new Loop({
    name: 'withholding backlogs',
    log,
    everyMs,
    run: () =>
      db.transaction(async (tx) => {
        const id = await lockDisabledEndpoint(tx)
        if (id === null) return false
        return (await withholdDeliveries(tx, id, clock.now())) > 0
      }),
  })
