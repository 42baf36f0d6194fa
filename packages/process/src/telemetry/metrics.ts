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
