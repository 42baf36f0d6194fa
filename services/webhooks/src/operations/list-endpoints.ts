import { invalid, operations } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import type { BreakerSettings } from '../domain/breaker.ts'
import { cursorOf, listEndpoints as list, placeOf } from '../storage/endpoint-list.ts'
import { summarizeEndpoint } from '../views/endpoint.ts'

export const listEndpoints = (settings: BreakerSettings) =>
  handle(operations.webhooks.listEndpoints, async ({ input }, { db }) => {
    const { environment, failing = false, after, limit } = input
    const place = placeOf(after)
    if (place === undefined) throw invalid('body', '/after', 'is no cursor of this list')
    const rows = await list(db, { environment, failing, place, limit: limit + 1 })
    const { data, nextCursor } = toPage(rows, limit, cursorOf)
    return { data: data.map((row) => summarizeEndpoint(row, settings)), nextCursor }
  })
