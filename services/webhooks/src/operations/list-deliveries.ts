import { operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { listDeliveries as readDeliveries } from '../storage/deliveries.ts'

export const listDeliveries = query(operations.webhooks.listDeliveries, async ({ input }, { sql }) => {
  const data = await readDeliveries(sql, input)
  return { data, nextCursor: data.length === input.limit ? (data.at(-1)?.id ?? null) : null }
})
