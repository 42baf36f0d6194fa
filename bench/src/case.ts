import type { Options } from './options.ts'
import type { Subject } from './stack/subject.ts'

/**
 * Whose figures they are: of the checkout that is measured, of the one it is held against (`--against`), or of a
 * reference, which is no system of ours and is measured once for both.
 */
export type Column = 'this' | 'before' | 'reference'

/** What one measurement says: figures by name, such as `perSecond`, `p99Ms` or `cpuMs.wallet`, and what failed how often. */
export interface Sample {
  readonly figures: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
}

/** One thing that is measured, again in each round. */
export interface Case {
  /** The targets know it by this name. */
  readonly id: string
  readonly title: string
  readonly column: Column
  /** The figure that stands for the case in tables and charts. */
  readonly shows: string
  readonly measure: () => Promise<Sample>
}

/** `plain`: as `npm start` makes it. `filled`: with a ledger and claims of years. */
export type SystemKind = 'plain' | 'filled'

/** What the cases of a group share while they run. */
export interface Setting {
  readonly options: Options
  /** The systems that are measured, one for each checkout; of a kind that the group does not need there may be none. */
  readonly systems: Readonly<Record<SystemKind, readonly Subject[]>>
  /** Ends with the group, the latest first. */
  readonly ending: AsyncDisposableStack
}

/** Cases that are held against each other: they take turns, so that whatever else the machine does meets all of them. */
export interface Group {
  /** What `--only` takes. */
  readonly name: string
  readonly needs: readonly SystemKind[]
  /** Whether fixed arrivals make sense for it (`--open-loop`). */
  readonly takesOpenLoop: boolean
  readonly prepare: (setting: Setting) => Promise<readonly Case[]>
}
