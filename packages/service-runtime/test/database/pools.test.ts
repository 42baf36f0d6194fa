// In a process of its own: it sets up the telemetry of all of it.

import { metrics } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import pg from 'pg'
import t from 'tap'

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
// A meter belongs to the provider that was there when its module was loaded.
const { postgres, testBed } = await import('@backoffice/test-kit')
const { payments } = await import('../probe-services.ts')
const { connectDatabase } = await import('@backoffice/database')
const { loadConfig } = await import('@backoffice/process')
const { noVault } = await import('@backoffice/database/vault')
const { serviceConfig } = await import('../../src/settings.ts')
const { measurePool } = await import('@backoffice/process')

const url = await postgres()

/** The values that are exported now: `<metric> <pool> <state>`. */
async function exported(): Promise<Readonly<Record<string, number>>> {
  exporter.reset()
  await reader.forceFlush()
  const points = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics)
    .flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => {
        const { 'db.client.connection.pool.name': pool, 'db.client.connection.state': state = '' } = attributes
        return [
          `${descriptor.name.replace('db.client.connection.', '')} ${pool} ${state}`.trim(),
          Number(value),
        ] as const
      }),
    )
  return Object.fromEntries(points)
}

t.test('a pool says how many connections it has, in use and idle, and how many callers wait for one', async (t) => {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  measurePool(pool, 'write')
  const clients = [await pool.connect(), await pool.connect()]
  const waiting = pool.connect()
  t.same(await exported(), {
    'count write used': 2,
    'count write idle': 0,
    'max write': 2,
    'pending_requests write': 1,
  })
  for (const client of clients) client.release()
  ;(await waiting).release()
  t.same(await exported(), {
    'count write used': 0,
    'count write idle': 2,
    'max write': 2,
    'pending_requests write': 0,
  })
  await pool.end()
})

t.test('the three pools of a service are measured apart', async (t) => {
  // Readers have a role of their own.
  const bed = await testBed(t, { payments })
  await bed.services.payments.drain()
  const config = loadConfig(serviceConfig, { ...bed.environment('payments'), DATABASE_POOL_MAX: '8' })
  const db = await connectDatabase('payments', config, { vault: noVault })
  t.teardown(() => db.close())
  await db.reader`select 1`
  t.match(await exported(), {
    'max write': 8,
    'max read': 2,
    'max team': 2,
    'count write idle': 0,
    'count read idle': 1,
    'count team idle': 0,
  })
})
