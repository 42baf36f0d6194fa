import {
  apiVersion,
  type EventData,
  type EventKind,
  type EventMessage,
  eventEnvelope,
  type Input,
  type Operation,
  type Scope,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { TSchema } from '@sinclair/typebox'
import { inputSchema, validateAsWritten } from '../validation/validate.ts'

interface RowBase {
  readonly id: string
  /** Rows of one aggregate leave in the order in which they were written. */
  readonly aggregate: string
  readonly name: string
}

/** The request that a row comes from, and its trace. */
export type RowContext = Readonly<Record<string, string>>

export interface EventRow extends RowBase {
  readonly kind: 'event'
  readonly message: { readonly context: RowContext; readonly event: EventMessage }
}

export interface CommandRow extends RowBase {
  readonly kind: 'command'
  readonly message: { readonly context: RowContext; readonly scope: Scope; readonly input: unknown }
}

export type OutboxRow = EventRow | CommandRow
export type OutboxKind = OutboxRow['kind']

export interface EmittedEvent<K extends EventKind = EventKind> {
  readonly kind: K
  /** The record's id: rows of one aggregate leave in order. Its row must be locked, or just inserted, by this transaction. */
  readonly aggregate: string
  readonly scope: Pick<Scope, 'operatorId' | 'brandId' | 'environment'>
  readonly data: EventData<K>
}

export interface SentCommand<O extends Operation = Operation> {
  /** An operation of another service that cannot be refused. */
  readonly operation: O
  /** As for an event. */
  readonly aggregate: string
  readonly scope: Scope
  readonly input: Input<O>
}

/** What leaves a service after a commit: an event for whoever listens, a command for one service. */
export type Sent = EmittedEvent | SentCommand

/**
 * @throws when the table does not allow the message: a row is validated when it is written, because a process of the
 *   release before may be the one that sends it
 */
export function toRow(sent: Sent, { now, context }: { readonly now: Date; readonly context: RowContext }): OutboxRow {
  const { aggregate } = sent
  if ('operation' in sent) {
    const { operation, scope, input } = sent
    const name = `${operation.service}.${operation.id}`
    assertValid(`the input of ${name}`, inputSchema(operation), input)
    return { id: newId('cmd'), aggregate, kind: 'command', name, message: { context, scope, input } }
  }
  const { kind, data } = sent
  const { operatorId, brandId, environment } = sent.scope
  const id = newId('evt')
  const createdAt = now.toISOString()
  const event = { id, type: kind, apiVersion, environment, operatorId, brandId, createdAt, data } as EventMessage
  assertValid(`the event ${kind}`, eventEnvelope(kind), event)
  return { id, aggregate, kind: 'event', name: kind, message: { context, event } }
}

function assertValid(what: string, schema: TSchema, value: unknown): void {
  const issues = validateAsWritten(schema, value)
  if (issues !== null) throw new Error(`${what} is not valid: ${JSON.stringify(issues)}`)
}
