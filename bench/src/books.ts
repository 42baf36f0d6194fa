import type { Column } from './case.ts'
import type { Books } from './figures.ts'
import type { Options } from './options.ts'
import type { Subject } from './stack/subject.ts'

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

const examplesMax = 5

/** Reconciles all that a system holds, as the team does. */
export async function compareBooks(subject: Subject, say: Say): Promise<Books> {
  say('comparing the books')
  const { column } = subject
  // An hour of figures is not lost because a checkout cannot judge its own books.
  const report = await subject.team.reconcile().catch((error: Error) => error)
  if (report instanceof Error)
    return { column, compared: 0, differences: 1, examples: [`the reconciliation ended: ${report.message}`] }
  const { checks, differences, differencesTotal } = report
  return {
    column,
    compared: checks.reduce((sum, { compared }) => sum + compared, 0),
    differences: differencesTotal,
    examples: differences
      .slice(0, examplesMax)
      .map(({ check, subject, explanation }) => `${check}: ${subject}: ${explanation}`),
  }
}
