import assert from 'node:assert/strict'
import { allOperations, type Scope, storedBytesMax } from '@backoffice/contracts'
import { unnest } from '../database/columns.ts'
import type { Db } from '../database/db.ts'
import { digestToKeep, isReplyToSeal, placeOfReply, sealMessage } from '../database/sealed-copies.ts'
import type { OutboxRow } from '../outbox/rows.ts'
import { countStoredBytes, type StoredFor } from '../telemetry/stored-bytes.ts'
import { type AuditRow, insertAudit } from './audit.ts'
import type { StoredReply } from './stored-reply.ts'

/** What one call writes besides its effect, in the same transaction. */
export interface CallRecord {
  readonly operationId: string
  readonly name: string
  /** Undefined for the team's. */
  readonly scope: Scope | undefined
  readonly fingerprint: string
  readonly reply: StoredReply | null
  readonly rows: readonly OutboxRow[]
  readonly audit: AuditRow | null
}

/** How long the process that commits a row may take to send it, before a relay takes it over. */
const ownLeaseMs = { command: 15_000, event: 5_000 } as const

/**
 * Writes replies, outbox rows and audit entries of a batch. The unique operation id is the fence: of two attempts of
 * one operation only one commits.
 * @returns ids of the rows that wait behind another operation's unfinished row: only the relay may send them
 */
export async function writeRecords(db: Db, records: readonly CallRecord[], now: Date): Promise<ReadonlySet<string>> {
  const audits = records.flatMap(({ audit }) => (audit === null ? [] : [audit]))
  const [behind] = await Promise.all([
    insertRows(db, records),
    insertReplies(db, records),
    audits.length === 0 ? undefined : insertAudit(db, audits, now),
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
    from ${unnest('record', replies, replyColumns)}
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
    return rows.map((row) => ({ ...row, operationId, leaseMs: ownLeaseMs[waits ? 'command' : row.kind] }))
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
      from ${unnest('r', numbered, rowColumns)}
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
