import { createHash } from 'node:crypto'
import {
  type ErrorCode,
  errorCatalogue,
  isByPeople,
  isDeclared,
  type Operation,
  pageBytesMax,
  Rejection,
} from '@backoffice/contracts'
import { type Db, type Fragment, type ReadDb, sql } from '@backoffice/database'
import { placeOfReply, type Vault } from '@backoffice/database/vault'
import { type CommandRow, type EventRow, markDone } from '../outbox/store.ts'

/** What the `operation` table keeps of a reply. */
export type StoredReply =
  | { readonly body: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly details?: Record<string, unknown> } }

export function refusalOf({ code, details }: Rejection): StoredReply {
  return { error: { code, ...(details === undefined ? {} : { details }) } }
}

/** What is kept of what an operation replied; null where nothing is left that a caller could use. */
export function replyToKeep<R>({ stored }: { readonly stored?: (reply: R) => R | null }, reply: R): StoredReply | null {
  const body = stored === undefined ? reply : stored(reply)
  return body === null ? null : { body }
}

/** A fault that a retry may cure is no reply, and is never stored. */
export function isStorable(operation: Operation, error: unknown): error is Rejection {
  return error instanceof Rejection && errorCatalogue[error.code].status < 500 && isDeclared(operation, error.code)
}

/** @throws {Rejection} when the stored reply is a refusal */
export function unwrap(reply: StoredReply): unknown {
  if ('error' in reply) throw Rejection.from(reply.error)
  return reply.body
}

/** Nobody finds another input with the same 128 bits. */
const fingerprintBytes = 16

/**
 * What an operation id stands for: the same id with anything else is a conflict, never a success that did nothing. Who of the
 * team tries once more may have looked again, and seen what the first try did: that is the same call.
 * @param asked the input; or what the gateway says of the request, since its next release may read more fields of it
 * @param by the brand that it acts for, or the person of the team
 */
export function fingerprintOf(operation: Operation, asked: object | string, by: string | undefined): string {
  const given = isByPeople(operation) ? { ...(asked as object), seen: undefined } : asked
  const digest = createHash('sha256')
    .update(JSON.stringify([operation.id, by ?? null, given]))
    .digest()
  return digest.subarray(0, fingerprintBytes).toString('base64url')
}

export interface KnownOperation {
  readonly operationId: string
  readonly name: string
  /** As it is stored; null on a tombstone. */
  readonly fingerprint: string | null
  /** null on a tombstone, and where a reply is not kept. */
  readonly reply: StoredReply | null
  readonly abandoned: boolean
  /** One of its commands is not done. */
  readonly unfinished: boolean
}

/** Where nothing is stored, one row comes without an operation. */
type KnownRow = { readonly now: Date } & (
  | (Omit<KnownOperation, 'reply'> & { readonly reply: StoredReply | string | null })
  | { readonly operationId: null }
)

/** What is stored under these operation ids. */
export interface KnownOperations {
  readonly known: ReadonlyMap<string, KnownOperation>
  /**
   * When the transaction began, on PostgreSQL's clock: what replicas share is judged by it, and no round trip is made for
   * it. `now()` is the same moment in every statement of the transaction.
   */
  readonly now: Date
}

export async function findKnown(db: ReadDb, operationIds: readonly string[]): Promise<KnownOperations> {
  const rows = await db<KnownRow>`
    select now() as now, o.operation_id, o.name, o.fingerprint, o.reply, o.abandoned, (
      -- In the collation of the index, which is not the other column's; and not with EXISTS, which may be planned as a
      -- look at all unfinished rows.
      select true from outbox b
      where b.operation_id = o.operation_id collate "default" and b.kind = 'command' limit 1
    ) is not null as unfinished
    from (select) one left join operation o on o.operation_id = any(${operationIds}::text[])
  `
  const known = new Map<string, KnownOperation>()
  for (const row of rows) {
    if (row.operationId === null) continue
    const { now: _, reply, ...operation } = row
    const place = placeOfReply(operation.operationId)
    known.set(operation.operationId, { ...operation, reply: db.vault.openJson(reply, place) })
  }
  return { known, now: (rows[0] as KnownRow).now }
}

/**
 * The stored reply of an earlier attempt.
 * @throws {Rejection} SERVICE_UNAVAILABLE when the id was abandoned, or its reply is not kept; IDEMPOTENCY_CONFLICT when it stands for something else
 */
export function replyOf(
  known: KnownOperation,
  operation: Operation,
  { fingerprint, vault }: { readonly fingerprint: string; readonly vault: Vault },
): StoredReply {
  if (known.abandoned || known.fingerprint === null || known.reply === null) throw new Rejection('SERVICE_UNAVAILABLE')
  // Where its key is not known any more, the digest cannot be compared, and the name must do.
  if (!(vault.isDigestOf(known.fingerprint, fingerprint) ?? known.name === operation.id)) {
    const cause = new Error(`operation id ${known.operationId} was used by ${known.name} with another input`)
    throw new Rejection('IDEMPOTENCY_CONFLICT', undefined, { cause })
  }
  return known.reply
}

/** Replaces the reply of an operation whose effect was taken back. It may be purged by now: then there is none to replace. */
async function replaceReply(db: Db, operationId: string, refusal: Rejection): Promise<void> {
  await db`
    update operation set reply = ${JSON.stringify(refusalOf(refusal))}::json where operation_id = ${operationId}
  `
}

/**
 * Whether an operation has its reply, or will never have one.
 * @param operationId a column, named with its table
 */
export const isKnownOperation = (operationId: Fragment): Fragment =>
  sql`exists (select from operation o where o.operation_id = ${operationId})`

/** Writes a tombstone under an id, unless something is stored there. A late message with that id is then refused. */
export async function insertTombstone(db: Db, operationId: string): Promise<void> {
  await db`
    insert into operation (operation_id, name, abandoned, created_at)
    values (${operationId}, 'abandonOperation', true, statement_timestamp())
    on conflict do nothing
  `
}

const bytesOf = (row: unknown): number => Buffer.byteLength(JSON.stringify(row))

/**
 * The rows at the front of a list that fit into one page, at most `limit`. The first one is always among them, so that
 * whoever goes on comes to an end.
 */
export function fitting<Row>(rows: readonly Row[], limit = rows.length): Row[] {
  let bytes = 0
  const end = rows.findIndex((row, index) => {
    bytes += bytesOf(row)
    return index >= limit || (bytes > pageBytesMax && index > 0)
  })
  return end < 0 ? [...rows] : rows.slice(0, end)
}

/**
 * A page of a list, with where the next one begins.
 * @param rows one more than `limit`, if there are as many
 * @param placeOf how a row is named as the place to go on from
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
): { data: Row[]; nextCursor: string | null } {
  const data = fitting(rows, limit)
  const last = data.at(-1)
  return { data, nextCursor: last === undefined || data.length === rows.length ? null : placeOf(last) }
}

/** A record as replies show it. */
export type WithIsoTimes<R> = {
  [Field in keyof R]: R[Field] extends Date ? string : R[Field] extends Date | null ? string | null : R[Field]
}

/** Writes the times of a record in ISO 8601, as replies have them; all else stays as it is. */
export function withIsoTimes<R extends object>(record: R): WithIsoTimes<R> {
  const fields = Object.entries(record).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ])
  return Object.fromEntries(fields)
}

/** What is shown, as it is stored: the named fields are times. */
export type WithTimes<Shown, Times extends keyof Shown> = Readonly<
  Omit<Shown, Times> & { [Field in Times]: Date | Extract<Shown[Field], null> }
>

/** A command that its receiver has not done. */
export type UnfinishedCommand = CommandRow & {
  /** The operation that sent it; null where no request asked for it. */
  readonly operationId: string | null
}

// What kind it is is looked at here: in the condition it would make PostgreSQL read all commands while there are few.
const commandColumns = sql`id, aggregate, kind, name, message, operation_id`
const unlessEvent = ([row]: readonly (UnfinishedCommand | EventRow)[]) => (row?.kind === 'command' ? row : undefined)

export async function findCommand(db: ReadDb, id: string): Promise<UnfinishedCommand | undefined> {
  return unlessEvent(await db<UnfinishedCommand>`select ${commandColumns} from outbox where id = ${id}`)
}

/** Locks its row, so that nobody else marks it as done. */
export async function lockCommand(db: Db, id: string): Promise<UnfinishedCommand | undefined> {
  return unlessEvent(await db<UnfinishedCommand>`select ${commandColumns} from outbox where id = ${id} for update`)
}

/**
 * Ends a command without its effect. Its row must be locked, and its receiver must refuse it from now on: it may be on its
 * way. The events of its operation are not sent, and a retry of the operation gets the refusal.
 */
export async function endCommand(
  db: Db,
  { id, aggregate, operationId }: UnfinishedCommand,
  refusal: Rejection,
): Promise<void> {
  // Not marked as done: what is done may be published again, to fill a lost stream.
  await db`
    delete from outbox
    where aggregate = ${aggregate} and operation_id = ${operationId} and kind = 'event'
  `
  await markDone(db, [{ id }], true)
  if (operationId !== null) await replaceReply(db, operationId, refusal)
}
