/** The median of several rounds, with their least and most. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

const ascending = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)

/** The least value that at least this share of the values does not exceed; NaN when there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = ascending(values)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** Of an even number of values, the mean of the two in the middle. */
export function spread(values: readonly number[]): Spread {
  const sorted = ascending(values)
  const half = sorted.length / 2
  const low = sorted[Math.ceil(half) - 1] ?? Number.NaN
  const high = sorted[Math.floor(half)] ?? Number.NaN
  return { median: (low + high) / 2, least: sorted[0] ?? Number.NaN, most: sorted.at(-1) ?? Number.NaN }
}

/** The figures of a set of latencies. p99.9 needs at least a thousand of them. */
export function latencyFigures(latenciesMs: readonly number[]): Readonly<Record<string, number>> {
  return {
    p50Ms: percentile(latenciesMs, 0.5),
    p90Ms: percentile(latenciesMs, 0.9),
    p99Ms: percentile(latenciesMs, 0.99),
    p999Ms: percentile(latenciesMs, 0.999),
    maxMs: percentile(latenciesMs, 1),
  }
}
