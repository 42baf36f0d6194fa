import type { Operation, Rejection } from '@backoffice/contracts'
import type { Context } from '@opentelemetry/api'
import type { Database } from '../database/db.ts'
import { contextOf } from '../messages/tracing.ts'
import type { SentRows } from '../outbox/dispatch.ts'
import { type OutboxRow, type Sent, toRow } from '../outbox/rows.ts'
import type { Clock } from '../process/clock.ts'
import type { Logger } from '../process/log.ts'
import { auditRow } from './audit.ts'
import type { Call, ExecuteTools } from './handle.ts'
import type { CallRecord } from './record.ts'
import { type KnownOperation, refusalOf, type StoredReply } from './stored-reply.ts'

/** What a command's own preparation came to. */
export type Preparation =
  | { readonly is: 'prepared'; readonly value: unknown }
  | { readonly is: 'refused'; readonly rejection: Rejection }

/** One call of a command on its way to an outcome. */
export interface Attempt {
  readonly operation: Operation
  readonly call: Call
  readonly fingerprint: string
  readonly preparation: Preparation
  /** A person of the team: their actions are audited. */
  readonly byTeam: boolean
  /** Whose the call is, for fairness. */
  readonly owner: string
  readonly bytes: number
  /** Its own trace: a batch runs in that of whoever started it. */
  readonly trace: Context
}

/** What came of an attempt. All but the last are committed. */
export type Outcome =
  | { readonly is: 'replied'; readonly body: unknown; readonly sent: SentRows }
  | { readonly is: 'refused'; readonly rejection: Rejection }
  /** An earlier attempt of the same operation id was there before. */
  | { readonly is: 'known'; readonly known: KnownOperation }
  /** A record's last change is not finished elsewhere: this operation has to be finished first. */
  | { readonly is: 'blocked'; readonly by: string }

export interface AttemptContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
}

/** What an accepted call leaves behind. */
export function recordOf(
  { operation, call, fingerprint, byTeam }: Attempt,
  { reply, rows }: { readonly reply: StoredReply; readonly rows: readonly OutboxRow[] },
): CallRecord {
  const audit = byTeam ? auditRow(operation, call) : null
  return { operationId: call.operationId, name: operation.id, fingerprint, reply, rows, audit }
}

/** A refusal is stored too: its operation id gets the same answer for ever. It changed nothing, so nothing is audited. */
export function recordOfRefusal({ operation, call, fingerprint }: Attempt, rejection: Rejection): CallRecord {
  const reply = refusalOf(rejection)
  return { operationId: call.operationId, name: operation.id, fingerprint, reply, rows: [], audit: null }
}

/** `emit` and `send` of a transaction: they collect what it is to leave in the outbox. */
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
