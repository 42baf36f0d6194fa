import { type Attributes, type Histogram, metrics } from '@opentelemetry/api'

/** The meter of everything that the services measure themselves. Without an SDK it measures nothing. */
export const meter = metrics.getMeter('backoffice')

/** From a cached read to the longest deadline. */
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

/**
 * Gauges that are read together, each time that metrics are collected and only then. A reading that fails leaves a gap:
 * what cannot be known is not zero.
 * @param gauges description and unit (UCUM) by name
 * @param read the values of each gauge
 */
export function gauges<Name extends string>(
  definitions: Readonly<Record<Name, { readonly description: string; readonly unit?: string }>>,
  read: () => Promise<Readonly<Partial<Record<Name, readonly Observation[]>>>>,
): () => void {
  const names = Object.keys(definitions) as Name[]
  const created = names.map((name) => ({ name, gauge: meter.createObservableGauge(name, definitions[name]) }))
  const callback = async (result: Parameters<Parameters<typeof meter.addBatchObservableCallback>[0]>[0]) => {
    const observed = await read().catch(() => ({}) as Awaited<ReturnType<typeof read>>)
    for (const { name, gauge } of created)
      for (const { value, attributes } of observed[name] ?? []) result.observe(gauge, value, attributes)
  }
  const all = created.map(({ gauge }) => gauge)
  meter.addBatchObservableCallback(callback, all)
  return () => meter.removeBatchObservableCallback(callback, all)
}
