import type { AuditedChange, ErrorCode, Operation } from '@backoffice/contracts'
import type { Db } from '@backoffice/database'
import type { ServedOperation } from '@backoffice/rpc'
import type { Call, Handler } from './handle.ts'

/** A governed call, what became of it, and what it changed. */
export interface Outcome {
  readonly operation: Operation
  readonly call: Pick<Call, 'approves' | 'caller' | 'input' | 'operationId'>
  /** Done, or refused with a code. */
  readonly outcome?: 'done' | ErrorCode
  readonly changes?: readonly AuditedChange[]
}

/** Runs in the transaction in which calls get their outcomes. */
export type InTransaction = (db: Db, outcomes: readonly Outcome[], now: Date) => Promise<void>

/** Who may run it, and what runs. */
export type Governed = Required<Pick<ServedOperation, 'admit' | 'run'>>

/**
 * Governs the operations that not every program may call: who may, who else has to agree, what is shown, and what is written
 * down. A plugin gives a service its own; a service without one serves no such operation.
 * @param runnerOf runs the handler that it is given: this one, or one that stands around it
 */
export type Govern = (handler: Handler, runnerOf: (handler: Handler) => ServedOperation['run']) => Governed
