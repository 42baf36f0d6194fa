import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { listDeliveries as readDeliveries } from '../storage/deliveries.ts'
import { toSummary } from '../views/delivery.ts'

export const listDeliveries = handle(operations.webhooks.listDeliveries, async ({ input }, { db }) => {
  const rows = await readDeliveries(db, input)
  return { data: rows.map(toSummary), nextCursor: rows.length === input.limit ? (rows.at(-1)?.id ?? null) : null }
})
