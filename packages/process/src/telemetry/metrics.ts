import { type Attributes, type Histogram, metrics } from '@opentelemetry/api'

/** The meter of everything that the services measure themselves. Without an SDK it measures nothing. */
export const meter = metrics.getMeter('backoffice')

/** They range from a cached read to the longest deadline. */
const durationBucketsSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/**
 * A histogram of durations in seconds. Names end in their unit, as Prometheus wants it: its exporter here adds none, and
 * the collector's adds none twice.
 */
export function durations(name: string, description: string): Histogram {
  return meter.createHistogram(name, {
    description,
    unit: 's',
    advice: { explicitBucketBoundaries: durationBucketsSeconds },
  })
}

export interface Observation {
  readonly value: number
  readonly attributes?: Attributes
}

/** Gauges that are read together, each time that metrics are collected and only then. */
export interface Measurement<Name extends string = string> {
  /** Description and unit (UCUM) by name. */
  readonly gauges: Readonly<Record<Name, { readonly description: string; readonly unit?: string }>>
  /** The values of each gauge. A reading that fails leaves a gap, because an unknown value is not zero. */
  readonly read: () => Promise<Readonly<Partial<Record<Name, readonly Observation[]>>>>
}

/** Declares a measurement. The compiler checks that `read` returns the names that `gauges` declares. */
export const measurement = <Name extends string>(definition: Measurement<Name>): Measurement =>
  definition as unknown as Measurement

/** @returns a function that stops it */
export function startMeasuring(measurements: readonly Measurement[]): () => void {
  const stops = measurements.map(observe)
  return () => {
    for (const stop of stops) stop()
  }
}

function observe({ gauges, read }: Measurement): () => void {
  const created = Object.entries(gauges).map(([name, options]) => ({
    name,
    gauge: meter.createObservableGauge(name, options),
  }))
  const callback = async (result: Parameters<Parameters<typeof meter.addBatchObservableCallback>[0]>[0]) => {
    const observed = await read().catch(() => ({}) as Awaited<ReturnType<typeof read>>)
    for (const { name, gauge } of created)
      for (const { value, attributes } of observed[name] ?? []) result.observe(gauge, value, attributes)
  }
  const all = created.map(({ gauge }) => gauge)
  meter.addBatchObservableCallback(callback, all)
  return () => meter.removeBatchObservableCallback(callback, all)
}

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

interface MeasuredPool {
  readonly ended: boolean
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  readonly options: { readonly max: number }
}

/** Measures how many connections a pool has and how many callers wait for one. */
export function measurePool(pool: MeasuredPool, name: string): void {
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
