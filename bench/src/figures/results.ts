import type { Case, Column, Sample, SystemKind } from '../case.ts'
import { type Spread, spread } from './statistics.ts'

/** One case and what each round said of it. */
export interface Measured extends Pick<Case, 'id' | 'title' | 'column' | 'shows'> {
  readonly group: string
  readonly samples: readonly Sample[]
}

/** The books of one system after everything, as the team's reconciliation sees them. */
export interface Books {
  readonly column: Column
  readonly system: SystemKind
  readonly compared: number
  readonly differences: number
  /** The first few, in words. */
  readonly examples: readonly string[]
}

export interface Results {
  readonly measured: readonly Measured[]
  readonly books: readonly Books[]
}

/** Names one case of one checkout. */
export interface Wanted {
  readonly id: string
  readonly column: Column
  /** Of this group only: the same reference may be measured in several, each time beside other cases. */
  readonly group?: string
}

/** A reference has no column of its own: it stands for every checkout. */
export function find({ measured }: Results, { id, column, group }: Wanted): Measured | undefined {
  return measured.find(
    (one) =>
      one.id === id &&
      (one.column === column || one.column === 'reference') &&
      (group === undefined || one.group === group),
  )
}

/** A figure round by round; nothing when it was not measured. */
export const roundsOf = (one: Measured | undefined, figure: string): readonly number[] =>
  (one?.samples ?? []).map(({ figures }) => figures[figure]).filter((value) => value !== undefined)

/** What the case stands for, over its rounds. */
export const shown = ({ samples, shows }: Measured): Spread =>
  spread(samples.map(({ figures }) => figures[shows] ?? Number.NaN))

/** Everything that failed in any round, by what it was. */
export function failuresOf({ samples }: Pick<Measured, 'samples'>): Readonly<Record<string, number>> {
  const total: Record<string, number> = {}
  for (const { failures } of samples) {
    for (const [what, count] of Object.entries(failures)) total[what] = (total[what] ?? 0) + count
  }
  return total
}

/** Whether everything was answered as it should be and every book agrees. What is only slow is named elsewhere. */
export function isSound({ measured, books }: Results): boolean {
  return (
    measured.every((one) => Object.keys(failuresOf(one)).length === 0) &&
    books.every(({ differences }) => differences === 0)
  )
}
