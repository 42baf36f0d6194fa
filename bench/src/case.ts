import type { Options } from './options.ts'
import type { Subject } from './stack/subject.ts'

/**
 * Whose figures they are: those of the checkout that is measured, of the one it is compared with (`--against`), or of a
 * reference, which is measured once for both.
 */
export type Column = 'this' | 'before' | 'reference'

/** One measurement: figures by name, such as `perSecond`, `p99Ms` or `cpuMs.wallet`, and how often what failed. */
export interface Sample {
  readonly figures: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
}

/** One thing that is measured, again in each round. */
export interface Case {
  /** The name by which the targets refer to it. */
  readonly id: string
  readonly title: string
  readonly column: Column
  /** The figure that stands for the case in tables and charts. */
  readonly shows: string
  readonly measure: () => Promise<Sample>
}

/** What the cases of a group share while they run. */
export interface Setting {
  readonly options: Options
  /** The systems that are measured, one for each checkout. */
  readonly systems: readonly Subject[]
  /** Disposed of at the end of the group, in reverse order. */
  readonly ending: AsyncDisposableStack
}

/** Prints a line of progress. */
export type Say = (line: string) => void

export interface Tools {
  readonly options: Options
  /** Stops what was started, also when the run is interrupted. */
  readonly ending: AsyncDisposableStack
  readonly say: Say
}

/** For what starts its systems itself. */
export interface AloneTools extends Tools {
  readonly column: Column
  readonly checkout: string
}

/** Cases that are compared with each other. They take turns, so that other load on the machine affects all of them. */
export interface Group {
  /** What `--only` takes. */
  readonly name: string
  readonly prepare: (setting: Setting) => Promise<readonly Case[]>
}
