import { meter } from '@backoffice/process'
import type { Pool } from 'pg'

// The names are those of OpenTelemetry's conventions. The instrumentation of pg has them too, but counts all pools of a
// process as one and gets the sum wrong; sdk.ts leaves its figures out.
const connections = meter.createObservableGauge('db.client.connection.count', {
  description: 'Connections of a pool that are open, by whether somebody uses them',
})
const connectionsMax = meter.createObservableGauge('db.client.connection.max', {
  description: 'The most connections that a pool opens',
})
const waiting = meter.createObservableGauge('db.client.connection.pending_requests', {
  description: 'Callers that wait for a connection of a pool',
})

/** Measures how many connections a pool has and how many callers wait for one. */
export function measurePool(pool: Pool, name: string): void {
  const attributes = { 'db.client.connection.pool.name': name }
  meter.addBatchObservableCallback(
    (result) => {
      if (pool.ended) return
      const { totalCount, idleCount, waitingCount } = pool
      result.observe(connections, totalCount - idleCount, { ...attributes, 'db.client.connection.state': 'used' })
      result.observe(connections, idleCount, { ...attributes, 'db.client.connection.state': 'idle' })
      result.observe(connectionsMax, pool.options.max, attributes)
      result.observe(waiting, waitingCount, attributes)
    },
    [connections, connectionsMax, waiting],
  )
}
