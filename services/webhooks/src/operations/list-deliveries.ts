import { operations } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { listDeliveries as readDeliveries } from '../storage/deliveries.ts'

export const listDeliveries = handle(operations.webhooks.listDeliveries, async ({ input }, { db }) => {
  const { limit } = input
  const rows = await readDeliveries(db, { ...input, limit: limit + 1 })
  return toPage(rows.map(withIsoTimes), limit, ({ id }) => id)
})
