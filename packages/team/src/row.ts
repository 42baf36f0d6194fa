import type { Input, Operation, Reply } from '@backoffice/contracts'
import { type List, type Listed, textColumns } from '@backoffice/team-rows'
import type { Wording } from './fields.ts'
import type { Column } from './output.ts'
import type { Session } from './session.ts'

/** What the `run` of a row gets. */
export interface Work<O extends Operation, Seen = undefined> {
  readonly session: Session
  readonly input: Input<O>
  /** What the row's `look` has read. */
  readonly seen: Seen
  readonly operationId: string | undefined
  /** Whether the result is printed as JSON, so that nothing else may be printed. */
  readonly json: boolean
}

type Field<O> = keyof Input<O> & string
type RowOf<Result> = Result extends { readonly data: readonly (infer Element)[] } ? Element : never

/**
 * One command of the team. The fields of its operation's body are its options, except those that are given by position
 * or fixed by the command.
 */
export interface Row<O extends Operation, Result = Reply<O>, Seen = undefined> {
  /** The words that are typed: the group, then what to do. */
  readonly path: `${string} ${string}`
  readonly operation: O
  /** For --help, instead of the operation's own summary. */
  readonly description?: string
  /** Fields that are given by position, in this order. */
  readonly arguments?: readonly Field<O>[]
  /** Fields that are given by position, after the others, or as options. */
  readonly either?: readonly Field<O>[]
  /** Fields whose value the command fixes; undefined leaves a field out. */
  readonly fixed?: { readonly [F in Field<O>]?: Input<O>[F] | undefined }
  readonly wording?: { readonly [F in Field<O>]?: Wording }
  /** Options that give fields a value of their own. */
  readonly switches?: readonly { readonly flags: string; readonly help: string; readonly gives: Partial<Input<O>> }[]
  /**
   * Reads what the command is about, once: what the question says is what is sent, as `seen` or by `run`. Without it, `seen` is
   * read and said as the table has it. A service that says something else the
   * next time has nobody's signature for it. An operator is still a name here.
   */
  readonly look?: (given: Input<O>, session: Session) => Promise<Seen>
  /** The question that is asked before anything is changed. */
  readonly confirm?: (given: Input<O>, seen: Seen) => string
  /** Runs instead of a single call of the operation. */
  readonly run?: (work: Work<O, Seen>) => Promise<Result>
  /** Other operations that `run` calls. */
  readonly also?: readonly Operation[]
  /** For a list: only `data` is printed, and for people in these columns. */
  readonly columns?: readonly Column<RowOf<Result>>[]
  /** Prints a result that is no list, for people. Without it, one line per field is printed. */
  readonly show?: (result: Result) => void
}

/** A row of any operation. */
export type AnyRow = Row<Operation, unknown, unknown>

/** Checks a row against its operation. */
export const row = <O extends Operation, Result = Reply<O>, Seen = undefined>(row: Row<O, Result, Seen>) =>
  row as unknown as AnyRow

/** The command of a list that the console shows too. */
export const listed = <O extends Operation, Shown = Listed<O>, Result = { readonly data: readonly Shown[] }>(
  list: List<O, Shown>,
  more: Omit<Row<O, Result>, 'path' | 'operation' | 'columns'> = {},
): AnyRow =>
  ({ path: list.command, operation: list.operation, columns: textColumns(list), ...more }) as unknown as AnyRow
