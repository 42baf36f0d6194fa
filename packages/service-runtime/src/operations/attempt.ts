import { type AuditedChange, masked, type Operation, type Rejection, type Scope } from '@backoffice/contracts'
import type { Context } from '@opentelemetry/api'
import type { Database } from '../database/db.ts'
import { contextOf } from '../messages/tracing.ts'
import type { SentRows } from '../outbox/dispatch.ts'
import { type OutboxRow, type Sent, toRow } from '../outbox/rows.ts'
import type { Logger } from '../process/log.ts'
import { auditRow } from './audit.ts'
import type { Call, ExecuteTools } from './handle.ts'
import type { CallRecord } from './record.ts'
import { type KnownOperation, refusalOf, type StoredReply } from './stored-reply.ts'

/** The result of a command's `prepare`. */
export type Preparation =
  | { readonly is: 'prepared'; readonly value: unknown }
  | { readonly is: 'refused'; readonly rejection: Rejection }

/** One call of a command on its way to an outcome. */
export interface Attempt {
  readonly operation: Operation
  readonly call: Call
  readonly fingerprint: string
  readonly preparation: Preparation
  /** Undefined for a person of the team. */
  readonly scope: Scope | undefined
  /** A person of the team: their actions are audited. */
  readonly byTeam: boolean
  /** Whose call it is: owners take turns. */
  readonly owner: string
  readonly bytes: number
  /** Its own trace. A batch runs in the trace of its first item. */
  readonly trace: Context
}

/** The outcome of an attempt. All but `blocked` are committed. */
export type Outcome =
  | { readonly is: 'replied'; readonly body: unknown; readonly sent: SentRows }
  | { readonly is: 'refused'; readonly rejection: Rejection }
  /** An earlier attempt with the same operation id was committed. */
  | { readonly is: 'known'; readonly known: KnownOperation }
  /** Another service has not finished a record's last change. The operation `by` must be finished first. */
  | { readonly is: 'blocked'; readonly by: string }

export interface AttemptContext {
  readonly db: Database
  readonly log: Logger
}

interface Written {
  readonly reply: StoredReply | null
  readonly rows: readonly OutboxRow[]
  /** For the audit trail, of a call of the team. */
  readonly changes?: readonly AuditedChange[]
}

/** What an accepted call leaves behind. */
export function recordOf(
  { operation, call, scope, fingerprint, byTeam }: Attempt,
  { reply, rows, changes = [] }: Written,
): CallRecord {
  const kept = { operationId: call.operationId, name: operation.id, scope, fingerprint, rows }
  if (!byTeam) return { ...kept, reply, audit: null }
  // The team is shown masked values, and no more than that is kept.
  const shown = reply !== null && 'body' in reply ? { body: masked(operation.reply, reply.body) } : reply
  return { ...kept, reply: shown, audit: auditRow(operation, call, { changes }) }
}

/** A refusal is stored too, so that a retry gets the same reply. The team's are audited: somebody tried. */
export function recordOfRefusal(
  { operation, call, scope, fingerprint, byTeam }: Attempt,
  rejection: Rejection,
): CallRecord {
  const reply = refusalOf(rejection)
  return {
    operationId: call.operationId,
    name: operation.id,
    scope,
    fingerprint,
    reply,
    rows: [],
    audit: byTeam ? auditRow(operation, call, { outcome: rejection.code }) : null,
  }
}

/** `emit` and `send` of a transaction. They collect the rows that it writes to the outbox. */
export function collectRows(
  rows: OutboxRow[],
  { requestId, now }: { readonly requestId: string; readonly now: Date },
): Pick<ExecuteTools, 'emit' | 'send'> {
  const collect = (sent: Sent) => {
    rows.push(toRow(sent, { now, context: contextOf(requestId) }))
  }
  return { emit: (event) => collect(event as Sent), send: (command) => collect(command as unknown as Sent) }
}

export function rowsOf(sends: readonly Sent[], { call, trace }: Attempt, now: Date): OutboxRow[] {
  if (sends.length === 0) return []
  const context = contextOf(call.requestId, trace)
  return sends.map((sent) => toRow(sent, { now, context }))
}
