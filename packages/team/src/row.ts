import type { Input, Operation, Reply } from '@backoffice/contracts'
import type { Wording } from './fields.ts'
import type { Column } from './output.ts'
import type { Session } from './session.ts'

/** What a row of more than one call works with. */
export interface Work<O extends Operation> {
  readonly session: Session
  readonly input: Input<O>
  readonly operationId: string | undefined
  /** The result is printed as JSON, so nothing else may be. */
  readonly json: boolean
}

type Field<O> = keyof Input<O> & string
type Listed<Result> = Result extends { readonly data: readonly (infer Element)[] } ? Element : never

/**
 * One command of the team. What its operation's body takes are its options, but for the fields that are given by position
 * or that the command decides.
 */
export interface Row<O extends Operation, Result = Reply<O>> {
  /** The words that are typed: the group, then what to do. */
  readonly path: `${string} ${string}`
  readonly operation: O
  /** For --help, instead of what the operation says of itself. */
  readonly description?: string
  /** Fields that are given by position, in this order. */
  readonly arguments?: readonly Field<O>[]
  /** Fields that are given by position, after the others, or as options. */
  readonly either?: readonly Field<O>[]
  /** Fields that the command decides; undefined leaves one out. */
  readonly fixed?: { readonly [F in Field<O>]?: Input<O>[F] | undefined }
  readonly wording?: { readonly [F in Field<O>]?: Wording }
  /** Options that give fields a value of their own. */
  readonly switches?: readonly { readonly flags: string; readonly help: string; readonly gives: Partial<Input<O>> }[]
  /** Asks before anything is sent; undefined needs no question. An operator is still a name here. */
  readonly confirm?: (given: Input<O>) => string | undefined
  /** Instead of calling the operation once. */
  readonly run?: (work: Work<O>) => Promise<Result>
  /** Other operations that `run` calls. */
  readonly also?: readonly Operation[]
  /** Of a list: `data` alone is printed, for people in these columns. */
  readonly columns?: readonly Column<Listed<Result>>[]
  /** Prints what is no list for people; one line per field when absent. */
  readonly show?: (result: Result) => void
}

/** A row whatever its operation. */
export type AnyRow = Row<Operation, unknown>

/** Checks a row against its operation. */
export const row = <O extends Operation, Result = Reply<O>>(row: Row<O, Result>) => row as unknown as AnyRow
