import { operations } from '@backoffice/contracts'
import { handle, withIsoTimes } from '@backoffice/service-runtime'
import { listDeliveries as readDeliveries } from '../storage/deliveries.ts'

export const listDeliveries = handle(operations.webhooks.listDeliveries, async ({ input }, { db }) => {
  const rows = await readDeliveries(db, input)
  return { data: rows.map(withIsoTimes), nextCursor: rows.length === input.limit ? (rows.at(-1)?.id ?? null) : null }
})
