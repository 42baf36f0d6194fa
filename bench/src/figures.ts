import type { Case, Column, Sample } from './case.ts'

/** One case with its sample of each round. */
export interface Measured extends Pick<Case, 'id' | 'title' | 'column' | 'shows'> {
  readonly group: string
  readonly samples: readonly Sample[]
}

/** The books of one system at the end, as the team's reconciliation reports them. */
export interface Books {
  readonly column: Column
  readonly compared: number
  readonly differences: number
  /** The first few differences, in words. */
  readonly examples: readonly string[]
}

export interface Results {
  readonly measured: readonly Measured[]
  readonly books: readonly Books[]
  /** Parts of docs/performance.md, in Markdown, by the name of their place. */
  readonly texts?: Readonly<Record<string, string>>
}

/** Names one case of one checkout. */
interface Wanted {
  readonly id: string
  readonly column: Column
}

/** A reference belongs to no column and is compared with every checkout. */
export function find({ measured }: Results, { id, column }: Wanted): Measured | undefined {
  return measured.find((one) => one.id === id && (one.column === column || one.column === 'reference'))
}

/** A figure of each round; empty when it was not measured. */
export const roundsOf = (one: Measured | undefined, figure: string): readonly number[] =>
  (one?.samples ?? []).map(({ figures }) => figures[figure]).filter((value) => value !== undefined)

/** The figure that the case shows, over its rounds. */
export const shown = ({ samples, shows }: Measured): Spread =>
  spread(samples.map(({ figures }) => figures[shows] ?? Number.NaN))

/** The failures of all rounds, counted by kind. */
export function failuresOf({ samples }: Pick<Measured, 'samples'>): Readonly<Record<string, number>> {
  const total: Record<string, number> = {}
  for (const { failures } of samples) {
    for (const [what, count] of Object.entries(failures)) total[what] = (total[what] ?? 0) + count
  }
  return total
}

/** Whether every reply was the expected one and all books agree. Missed targets do not count here. */
export function isSound({ measured, books }: Results): boolean {
  return (
    measured.every((one) => Object.keys(failuresOf(one)).length === 0) &&
    books.every(({ differences }) => differences === 0)
  )
}

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

export function latencyFigures(latenciesMs: readonly number[]) {
  return {
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    p999Ms: percentile(latenciesMs, 0.999),
    worstMs: percentile(latenciesMs, 1),
  }
}
