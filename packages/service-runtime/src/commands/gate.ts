import type { AuditedChange, ErrorCode, Operation, Rejection } from '@backoffice/contracts'
import type { Database, Db } from '@backoffice/database'
import type { Admit, ServedOperation } from '@backoffice/rpc'
import type { ApprovedProposal, Approver, Call } from './handle.ts'

/** What became of a call: done, or refused with a code. */
export type AuditOutcome = 'done' | ErrorCode

export type AuditedCall = Pick<Call, 'caller' | 'operationId' | 'input' | 'approves'>

/** A call of the team, what became of it, and what it changed. */
export interface CallToAudit {
  readonly operation: Operation
  readonly call: AuditedCall
  readonly outcome?: AuditOutcome
  readonly changes?: readonly AuditedChange[]
}

/** A call that takes two people, in a transaction. */
export interface TwoPeopleCall {
  readonly db: Db
  readonly operation: Operation
  readonly call: Pick<Call, 'approves' | 'caller' | 'input' | 'operationId'>
  readonly now: Date
  /** Whether what was approved may be done again, because doing it again changes nothing. */
  readonly isRepeatable?: boolean
}

/**
 * Keeps the whole reply for whoever is shown it once instead of this caller, in the transaction.
 * @returns false where nobody is
 */
export type KeepOnce = (db: Db, body: unknown, kept: { readonly body: unknown }) => Promise<boolean>

/**
 * Governs the team's operations: who may call them, what they are shown, who else has to agree, and what is written down.
 * A plugin gives a service its gate. A service without one serves no operation of the team.
 */
export interface Gate {
  readonly admit: Admit
  /** Stands around each operation of the team. */
  around(operation: Operation, run: ServedOperation['run']): ServedOperation['run']
  /**
   * Whether a call takes a second person.
   * @param ask the handler's `approval`, if it has one
   * @throws {Rejection} of `ask`
   */
  takesSecondPerson(
    operation: Operation,
    call: Pick<Call, 'approves' | 'input'>,
    ask: () => Promise<Approver> | undefined,
  ): Promise<boolean>
  /**
   * @returns the refusal of a call that proposes or comes too late, which is to be committed with its proposal; or the
   *   approved proposal of one that may go on
   * @throws {Rejection} PROPOSAL_NOT_FOUND, PROPOSAL_NOT_OPEN, TWO_PEOPLE_REQUIRED
   */
  proposeOrApprove(call: TwoPeopleCall): Promise<Rejection | { readonly approved: string; readonly keep?: KeepOnce }>
  /** `approveFirst` of the tools of a command's `prepare`. */
  approveFirst(
    call: Omit<TwoPeopleCall, 'db' | 'isRepeatable'> & { readonly db: Database },
  ): Promise<ApprovedProposal | undefined>
  /** Enters commands in the audit trail, in the transaction of their effect. */
  record(db: Db, audited: readonly CallToAudit[], now: Date): Promise<void>
}

const refuse = (): never => {
  throw new Error('no plugin of this service governs the operations of the team')
}

/** Of a service to which no plugin gives one. */
export const noGate: Gate = {
  admit: refuse,
  around: refuse,
  takesSecondPerson: refuse,
  proposeOrApprove: refuse,
  approveFirst: refuse,
  record: refuse,
}
