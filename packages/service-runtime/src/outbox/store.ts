import {
  allOperations,
  apiVersion,
  type Environment,
  type EventData,
  type EventKind,
  type EventMessage,
  eventEnvelope,
  type Input,
  type Operation,
  Rejection,
  type Scope,
  type ServiceName,
} from '@backoffice/contracts'
import { type Db, type Fragment, type ReadDb, sql } from '@backoffice/database'
import { openMessage, type StoredMessage, type Vault } from '@backoffice/database/vault'
import { limitsMs, type Measurement, measurement, newId } from '@backoffice/process'
import { inContextOf, inputSchema, type RpcClient, validateAsWritten } from '@backoffice/rpc'
import type { TSchema } from '@sinclair/typebox'
import type { EventPublisher } from '../messages/event-stream.ts'

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

/** What leaves a service after a commit: an event for whoever listens, by its kind; a command for one service, by its operation. */
export type SentMessage<What extends EventKind | Operation = EventKind | Operation> = What extends EventKind
  ? EmittedEvent<What>
  : What extends Operation
    ? SentCommand<What>
    : never

/**
 * @throws when the table does not allow the message: a row is validated when it is written, because a process of the
 *   release before may be the one that sends it
 */
export function toRow(
  sent: SentMessage,
  { now, context }: { readonly now: Date; readonly context: RowContext },
): OutboxRow {
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

const operationsByName = new Map(allOperations.map((operation) => [`${operation.service}.${operation.id}`, operation]))

/** Resolves once the service that a command names has done it. */
export async function sendCommand(rpc: RpcClient, row: CommandRow, deadline?: Date): Promise<void> {
  const operation = operationsByName.get(row.name)
  if (operation === undefined) throw new Error(`the outbox names an unknown operation: ${row.name}`)
  const { context, scope, input } = row.message
  await inContextOf(context, () =>
    rpc.call(operation, {
      scope,
      input: input as Input<Operation>,
      isStored: true,
      operationId: row.id,
      requestId: context.requestId ?? row.id,
      ...(deadline === undefined ? {} : { deadline }),
    }),
  )
}

/** Resolves once the stream has an event. */
export function sendEvent(publisher: EventPublisher, { message: { event, context } }: EventRow): Promise<void> {
  return inContextOf(context, () => publisher.publish(event, context.requestId ?? ''))
}

/** A row as it is stored: texts of its message may be sealed. */
export type StoredRow = Omit<OutboxRow, 'message'> & { readonly message: StoredMessage }
export type LeasedRow = StoredRow & { readonly attempts: number }

/** @throws when the message was sealed under a key that is not known */
export const opened = (vault: Vault, row: StoredRow): OutboxRow =>
  ({ ...row, message: openMessage(vault, row.id, row.message) }) as OutboxRow

const leaseBatchMax = 200

/**
 * Takes rows that are done out of the outbox. What was published goes to the log of published events, from which a lost
 * stream is filled, on the database's clock: replicas whose clocks differ must agree on what was published lately. In
 * milliseconds, because a reader goes on from the time of the last row, which it has in milliseconds. A row that is written at the same
 * moment and not seen here nudges the relay itself, after its commit.
 * @param waits whether for the disk: a mark that is lost is made again, since the row is sent again and its receiver knows it
 * @returns whether rows wait behind these that only the relay may send
 */
export async function markDone(db: Db, sent: readonly Pick<StoredRow, 'id'>[], waits: boolean): Promise<boolean> {
  const ids = sent.map(({ id }) => id)
  const rows = await db<{ behind: boolean; synchronousCommit: string | null }>`
    with done as (
      delete from outbox where id = any(${ids}::text[])
      returning id, aggregate, aggregate_seq, kind, message
    ), published as (
      insert into published_event (published_at, id, message)
      select date_trunc('milliseconds', statement_timestamp()), id, message from done where kind = 'event'
    )
    select exists (
      select from outbox later
      where later.aggregate = o.aggregate and later.aggregate_seq > o.aggregate_seq
        and (later.leased_until is null or later.leased_until <= clock_timestamp())
    ) as behind, ${sql.synchronousCommit(waits)}
    from done o
  `
  return rows.some(({ behind }) => behind)
}

/**
 * Leases due rows to the caller, oldest first: in columns, never by open locks. An event waits for all earlier rows of its
 * aggregate, a command for the commands: the stream may be away for longer than the service that the command goes to.
 * Leases run on the database's clock, which all replicas share.
 */
export function leaseDue(db: Db, kind: OutboxKind): Promise<LeasedRow[]> {
  return db<LeasedRow>`
    with due as (
      select o.id from outbox o
      where o.kind = ${kind} and (o.leased_until is null or o.leased_until <= clock_timestamp())
        -- It leaves nothing out: with it rows are read in order until there are enough, and not all that are unfinished.
        and o.created_at >= (select min(created_at) from outbox)
        -- As a value and not with EXISTS, which may be planned as a join with all unfinished rows.
        and (
          select true from outbox earlier
          where earlier.aggregate = o.aggregate and earlier.aggregate_seq < o.aggregate_seq
            and (earlier.kind = 'command' or o.kind = 'event') limit 1
        ) is null
      order by o.created_at
      limit ${leaseBatchMax}
      for no key update skip locked
    )
    update outbox o set leased_until = clock_timestamp() + make_interval(secs => ${limitsMs.relayLease / 1_000}), attempts = o.attempts + 1
    from due where o.id = due.id
    returning o.id, o.aggregate, o.kind, o.name, o.message, o.attempts
  `
}

/** Gives rows back for a later try, each after its own delay, with what went wrong. */
export async function release(
  db: Db,
  rows: readonly { readonly id: string; readonly delayMs: number; readonly error: unknown }[],
): Promise<void> {
  const failed = rows.map(({ id, delayMs, error }) => ({ id, delayMs, fault: faultOf(error) }))
  await db`
    update outbox o
    set leased_until = clock_timestamp() + make_interval(secs => f.delay_ms / 1000.0), last_fault = f.fault
    from ${sql.unnest('f', failed, 'id text, delay_ms int, fault text')}
    where o.id = f.id
  `
}

const faultLengthMax = 200

/** A code says what the receiver replied. Why it failed stands in its log, and is not copied. */
const faultOf = (error: unknown): string =>
  (error instanceof Rejection ? error.code : String(error)).slice(0, faultLengthMax)

/** Which of these operations have a command that is not done. */
export async function findUnfinishedOperations(
  db: ReadDb,
  operationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db<{ operationId: string }>`
    select distinct operation_id from outbox
    where operation_id = any(${operationIds}::text[]) and kind = 'command'
  `
  return new Set(rows.map(({ operationId }) => operationId))
}

/**
 * Ends the leases and delays of the rows that an operation with unfinished commands has left. Sending a row twice is
 * harmless: receivers know it by its reference or id.
 */
export async function takeOver(db: Db, operationId: string): Promise<void> {
  await db`
    update outbox o set leased_until = null
    from (select aggregate from outbox where operation_id = ${operationId} and kind = 'command') c
    where o.aggregate = c.aggregate and o.operation_id = ${operationId} and o.leased_until is not null
  `
}

// What a service may ask about its own outbox. A row is there until it is done.

/**
 * Whether a command about a record is not done yet. It is looked up for one record after another: for `exists` PostgreSQL
 * may read all that is unfinished.
 * @param recordId a column, named with its table
 */
export const isUnfinished = (recordId: Fragment): Fragment =>
  sql`(select true from outbox where aggregate = ${recordId} and kind = 'command' limit 1) is not null`

/** The commands that are not done, as a table of a statement: `created_at` and `environment` of each. */
export const unfinishedCommands: Fragment = sql`(select created_at, environment from outbox where kind = 'command')`

/** The operations whose commands are not done yet, by the record that a command is about. */
export async function findUnfinished(db: ReadDb, recordIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (recordIds.length === 0) return new Map()
  const rows = await db<{ aggregate: string; operationId: string }>`
    select distinct on (aggregate) aggregate, operation_id from outbox
    where aggregate = any(${recordIds}::text[]) and kind = 'command' and operation_id is not null
    order by aggregate, aggregate_seq
  `
  return new Map(rows.map(({ aggregate, operationId }) => [aggregate, operationId]))
}

const kinds: readonly OutboxKind[] = ['command', 'event']
const environments: readonly Environment[] = ['production', 'sandbox']

/** What waits in a service's outbox, and for how long, in each environment. */
export function outboxBacklog(db: ReadDb, service: ServiceName): Measurement {
  return measurement({
    gauges: {
      'backoffice.outbox.oldest_unsent_seconds': {
        description: 'Age of the oldest outbox row that is not sent yet',
        unit: 's',
      },
      'backoffice.outbox.unsent_rows': { description: 'Outbox rows that are not sent yet' },
    },
    async read() {
      const rows = await db<{ kind: string; environment: string; waiting: bigint; oldest: number }>`
        select kind, environment, count(*) as waiting,
          -- What is of the future was written by other means, and is as old as it is far away.
          max(abs(extract(epoch from clock_timestamp()) - extract(epoch from created_at)))::double precision as oldest
        from outbox group by 1, 2
      `
      const found = new Map(rows.map((row) => [`${row.kind} ${row.environment}`, row]))
      const observe = (value: (row: (typeof rows)[number] | undefined) => number) =>
        kinds.flatMap((kind) =>
          environments.map((environment) => ({
            value: value(found.get(`${kind} ${environment}`)),
            attributes: { service, kind, environment },
          })),
        )
      return {
        'backoffice.outbox.oldest_unsent_seconds': observe((row) => row?.oldest ?? 0),
        'backoffice.outbox.unsent_rows': observe((row) => Number(row?.waiting ?? 0)),
      }
    },
  })
}
