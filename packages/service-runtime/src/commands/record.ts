import assert from 'node:assert/strict'
import {
  type AuditedChange,
  allOperations,
  type Environment,
  masked,
  type Operation,
  type Rejection,
  type Scope,
  storedBytesMax,
} from '@backoffice/contracts'
import { type Database, type Db, readNow, sql } from '@backoffice/database'
import { digestToKeep, isReplyToSeal, placeOfReply, sealMessage } from '@backoffice/database/vault'
import { type Logger, limitsMs, meter, newId, type Timers } from '@backoffice/process'
import { contextOf } from '@backoffice/rpc'
import type { Attributes, Context } from '@opentelemetry/api'
import type { Relay, SentRows } from '../outbox/sending.ts'
import { type OutboxRow, type SentMessage, toRow } from '../outbox/store.ts'
import type { Call, ExecuteTools, Outcome as GovernedOutcome, InTransaction } from './handle.ts'
import { type KnownOperation, refusalOf, type StoredReply } from './reply.ts'

/** What one call writes besides its effect, in the same transaction. */
export interface CallRecord {
  readonly operationId: string
  readonly name: string
  /** Undefined for the team's. */
  readonly scope: Scope | undefined
  readonly fingerprint: string
  readonly reply: StoredReply | null
  readonly rows: readonly OutboxRow[]
  /** For who governs the operation; null for one that nobody does. */
  readonly governed: GovernedOutcome | null
}

/** In which command's name it is written, and when. */
export interface Writing {
  readonly command: { readonly inTransaction?: InTransaction }
  readonly now: Date
}

/**
 * Writes replies and outbox rows of a batch, and what whoever governs the operation has to write. The unique operation id is the fence: of two attempts of
 * one operation only one commits.
 * @returns ids of the rows that wait behind another operation's unfinished row: only the relay may send them
 */
export async function writeRecords(
  db: Db,
  records: readonly CallRecord[],
  { command: { inTransaction }, now }: Writing,
): Promise<ReadonlySet<string>> {
  const outcomes = records.flatMap(({ governed }) => (governed === null ? [] : [governed]))
  const [behind] = await Promise.all([
    insertRows(db, records),
    insertReplies(db, records),
    outcomes.length === 0 ? undefined : inTransaction?.(db, outcomes, now),
  ])
  return behind
}

/** PostgreSQL's clock says how old they are: if a process's own had stopped long ago, they would be purged at once. */
async function insertReplies(db: Db, records: readonly CallRecord[]): Promise<void> {
  const replies = records.map(({ reply, scope, ...record }) => {
    const text = reply && toJson(record.name, reply)
    if (scope !== undefined) countStoredBytes('operation', scope, Buffer.byteLength(text ?? ''))
    const { operationId, name } = record
    // A refusal says nothing about a person.
    const seals = reply !== null && 'body' in reply && isReplyToSeal(name)
    return {
      ...record,
      fingerprint: digestToKeep(db.vault, name, record.fingerprint),
      reply: text !== null && seals ? db.vault.sealJson(text, placeOfReply(operationId)) : text,
      environment: scope?.environment ?? null,
    }
  })
  await db`
    insert into operation (operation_id, name, fingerprint, reply, environment, created_at)
    select operation_id, name, fingerprint, reply::json, environment, statement_timestamp()
    from ${sql.unnest('record', replies, replyColumns)}
    order by operation_id
  `
}

const replyColumns = 'operation_id text, name text, fingerprint text, reply text, environment text'

const bytesMaxByName = new Map(allOperations.map(({ id, storedBytesMax }) => [id, storedBytesMax]))

/**
 * What is stored of a call. Its size is bounded, so that no tenant fills the disks of all with few requests. The schemas of
 * the operation table keep the bound: beyond it is a bug, and the call fails.
 */
function toJson(name: string, value: unknown): string {
  const text = JSON.stringify(value)
  const bytesMax = bytesMaxByName.get(name) ?? storedBytesMax
  assert(
    text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax,
    `${name} would store more than ${bytesMax} bytes`,
  )
  return text
}

async function insertRows(db: Db, records: readonly CallRecord[]): Promise<ReadonlySet<string>> {
  const rows = records.flatMap(({ operationId, rows }) => {
    const waits = rows.some(({ kind }) => kind === 'command')
    // Events wait for the commands of their operation.
    return rows.map((row) => ({ ...row, operationId, leaseMs: limitsMs[`${waits ? 'command' : row.kind}Lease`] }))
  })
  return rows.length === 0 ? new Set() : insertOutboxRows(db, rows)
}

/**
 * Numbers the rows of each aggregate, whose own row the transaction has locked or just inserted, and leases them to
 * this process. A command waits behind unfinished commands of its aggregate, an event behind any unfinished row.
 * PostgreSQL's clock says since when they wait, so that a process whose own is ahead hides none that is stuck.
 */
async function insertOutboxRows(
  db: Db,
  rows: readonly (OutboxRow & { readonly operationId: string | null; readonly leaseMs: number | null })[],
): Promise<ReadonlySet<string>> {
  const numbered = withNumbers(rows).map((row) => {
    const owner = ownerOf(row)
    const text = toJson(row.name, row.message)
    const sealed = sealMessage<OutboxRow['message']>(db.vault, row, row.message)
    const message = sealed === row.message ? text : JSON.stringify(sealed)
    countStoredBytes('outbox', owner, Buffer.byteLength(message))
    return { ...row, message, environment: owner.environment }
  })
  const behind = await db<{ id: string }>`
    with sent as (
      insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, operation_id, created_at, leased_until)
      select r.id, r.aggregate,
        coalesce((select max(o.aggregate_seq) from outbox o where o.aggregate = r.aggregate), 0) + r.number,
        r.kind, r.name, r.message::json, r.environment, r.operation_id, statement_timestamp(),
        case when not exists (
          select from outbox e where e.aggregate = r.aggregate and (e.kind = 'command' or r.kind = 'event')
        ) then clock_timestamp() + make_interval(secs => r.lease_ms / 1000.0) end
      from ${sql.unnest('r', numbered, rowColumns)}
      returning id, leased_until
    )
    select id from sent where leased_until is null
  `
  return new Set(behind.map(({ id }) => id))
}

const rowColumns =
  'id text, aggregate text, number int, kind text, name text, message text, environment text, operation_id text, lease_ms int'

/** Whom a row is about. */
const ownerOf = (row: OutboxRow): StoredFor => (row.kind === 'event' ? row.message.event : row.message.scope)

/** Each row with its number among those of its aggregate, from 1. */
function withNumbers<Row extends OutboxRow>(rows: readonly Row[]): (Row & { readonly number: number })[] {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const number = (counts.get(row.aggregate) ?? 0) + 1
    counts.set(row.aggregate, number)
    return { ...row, number }
  })
}

/** Writes rows of work that no request asked for: the relay may send them at once. */
export async function insertUnclaimedRows(db: Db, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length > 0)
    await insertOutboxRows(
      db,
      rows.map((row) => ({ ...row, operationId: null, leaseMs: null })),
    )
}

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
  readonly timers: Timers
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
  if (!byTeam) return { ...kept, reply, governed: null }
  // The team is shown masked values, and no more than that is kept.
  const shown = reply !== null && 'body' in reply ? { body: masked(operation.reply, reply.body) } : reply
  return { ...kept, reply: shown, governed: { operation, call, changes } }
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
    governed: byTeam ? { operation, call, outcome: rejection.code } : null,
  }
}

/** `emit` and `send` of a transaction. They collect the rows that it writes to the outbox. */
export function collectRows(
  rows: OutboxRow[],
  { requestId, now }: { readonly requestId: string; readonly now: Date },
): Pick<ExecuteTools, 'emit' | 'send'> {
  const collect = (sent: SentMessage) => {
    rows.push(toRow(sent, { now, context: contextOf(requestId) }))
  }
  return {
    emit: (event) => collect(event as SentMessage),
    send: (command) => collect(command as unknown as SentMessage),
  }
}

export function rowsOf(sends: readonly SentMessage[], { call, trace }: Attempt, now: Date): OutboxRow[] {
  if (sends.length === 0) return []
  const context = contextOf(call.requestId, trace)
  return sends.map((sent) => toRow(sent, { now, context }))
}

/** One transaction with the tools of a command, for work that no request asked for: a sweeper's, a scheduler's. */
export type Transact = <T>(run: (tools: Omit<ExecuteTools, 'changed'>) => Promise<T>) => Promise<T>

/** The relay sends what such work leaves in the outbox, because no request waits for it. */
export function transactor(context: { readonly db: Database; readonly relay: Relay; readonly log: Logger }): Transact {
  const { db, relay, log } = context
  return async (run) => {
    const { result, sent } = await db.transaction(async (tx) => {
      const now = await readNow(tx)
      const rows: OutboxRow[] = []
      const result = await run({ db: tx, now, newId, log, ...collectRows(rows, { requestId: newId('req'), now }) })
      await tx.flush()
      await insertUnclaimedRows(tx, rows)
      return { result, sent: rows.length }
    })
    if (sent > 0) relay.nudge('command', 'event')
    return result
  }
}

/** Whose a stored item is. */
export interface StoredFor {
  readonly operatorId: string
  readonly environment: Environment
}

/**
 * Added up here and read when measurements are collected: to add to a counter costs more than all else of an item. Not by
 * operator, of which there are hundreds: quotas say who stores much, this says where it goes.
 */
const totals = new Map<string, { readonly attributes: Attributes; bytes: number }>()

meter
  .createObservableCounter('backoffice.stored_bytes', {
    description:
      'Bytes that calls of operators have left in the tables that keep what was sent: replies, events, deliveries',
    unit: 'By',
  })
  .addCallback((result) => {
    for (const { bytes, attributes } of totals.values()) result.observe(bytes, attributes)
  })

/** Counts what is written for operators. A batch that runs again counts again. */
export function countStoredBytes(table: string, { environment }: StoredFor, bytes: number): void {
  const name = `${table} ${environment}`
  const total = totals.get(name)
  if (total === undefined) totals.set(name, { attributes: { environment, table }, bytes })
  else total.bytes += bytes
}
