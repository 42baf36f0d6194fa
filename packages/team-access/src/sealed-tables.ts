import { isReplyToSeal, placeOfPayload, placeOfReply, renewMessage, type Vault } from '@backoffice/database/vault'
import { type Database, type Db, type ReadDb, sql } from '@backoffice/service-runtime'

// biome-ignore lint/suspicious/noExplicitAny: each table says what its rows are
type AnyRow = any
type Values = Readonly<Record<string, unknown>>

export interface SealedTable {
  readonly table: string
  /** The columns of its primary key with their types, in order. */
  readonly key: string
  /** What `renew` looks at, with types. */
  readonly reads: string
  /** What `renew` returns, with types. */
  readonly writes: string
  /** What the row must hold to be as it would be written now; null when it does. */
  readonly renew: (row: AnyRow, vault: Vault) => object | null
}

/** What is written of a row; null when its value is as it should be. */
const written = (column: string, value: unknown, more = {}): object | null =>
  value === null ? null : { [column]: value, ...more }

/** What the runtime itself keeps sealed. */
const runtimeTables: readonly SealedTable[] = [
  {
    table: 'operation',
    key: 'operation_id text',
    reads: 'name text, reply json',
    writes: 'reply json',
    renew: ({ operationId, name, reply }, vault) =>
      reply === null || !isReplyToSeal(name) || reply.error !== undefined
        ? null
        : written('reply', vault.renewJson(reply, placeOfReply(operationId))),
  },
  {
    table: 'outbox',
    key: 'id text',
    reads: 'name text, message json',
    writes: 'message json',
    renew: ({ id, name, message }, vault) => written('message', renewMessage(vault, { id, name }, message)),
  },
  {
    table: 'published_event',
    key: 'published_at timestamptz, id text',
    reads: 'message json',
    writes: 'message json',
    renew: ({ id, message }, vault) =>
      written('message', renewMessage(vault, { id, name: message.event.type }, message)),
  },
  {
    table: 'set_aside_message',
    key: 'id bigint',
    reads: 'payload text, sealed bool',
    writes: 'payload text, sealed bool',
    renew({ id, payload, sealed }, vault) {
      const place = placeOfPayload(BigInt(id))
      const renewed = sealed ? vault.renew(payload, place) : vault.seals ? vault.seal(payload, place) : null
      return written('payload', renewed, { sealed: true })
    },
  },
]

/** A payload that was set aside may be as long as a message of the broker, so pages are small. */
const pageMax = 100
/** Pages of one call: it must not take longer than its caller waits. */
const pagesMax = 50

export interface Renewal {
  /** How many rows were written. */
  readonly sealed: number
  /** Where the next call goes on; null at the end. */
  readonly nextCursor: string | null
}

/** Where a call goes on: in a table, above a row. */
interface Place {
  readonly table: string
  /** The row's key as text; null before the first row. */
  readonly key: readonly string[] | null
}

/**
 * Seals what was written before sealing began, and seals again what is under an older key: some pages of a service's
 * tables, in the order of their primary keys.
 * @param after the `nextCursor` of the call before
 * @throws {RangeError} when that names no table
 */
export async function renewSealed(
  db: Database,
  ownTables: readonly SealedTable[],
  after: string | undefined,
): Promise<Renewal> {
  const tables = [...ownTables, ...runtimeTables]
  let place: Place | null = after === undefined ? firstOf(tables[0]) : (JSON.parse(after) as Place)
  let sealed = 0
  for (let page = 0; page < pagesMax && place !== null; page++) {
    const { table, key }: Place = place
    const index = tables.findIndex((candidate) => candidate.table === table)
    const entry = tables[index]
    if (entry === undefined) throw new RangeError(`no sealed table: ${table}`)
    const rows: AnyRow[] = await readPage(db, entry, key)
    const found = renewedOf(entry, rows, db.vault)
    const written = await writeRenewed(db, entry, found)
    sealed += written
    // Somebody has changed the others since they were read: the page is read again.
    if (written < found.length) continue
    place = rows.length < pageMax ? firstOf(tables[index + 1]) : { table, key: sql.keyOf(entry.key, rows.at(-1)) }
  }
  return { sealed, nextCursor: place === null ? null : JSON.stringify(place) }
}

const firstOf = (entry: SealedTable | undefined): Place | null =>
  entry === undefined ? null : { table: entry.table, key: null }

function readPage(db: ReadDb, { table, key, reads }: SealedTable, after: readonly string[] | null): Promise<AnyRow[]> {
  const above = after === null ? sql`` : sql`where ${sql.keyAbove(key, after)}`
  return db<AnyRow>`
    select ${sql.columns(`${key}, ${reads}`)}, xmin::text as row_version from ${sql.identifier(table)} ${above}
    order by ${sql.columns(key)} limit ${pageMax}
  `
}

const renewedOf = ({ renew }: SealedTable, page: readonly AnyRow[], vault: Vault): Values[] =>
  page.flatMap((row) => {
    const values = renew(row, vault)
    return values === null ? [] : [{ ...row, ...values }]
  })

/**
 * Writes rows that are still as they were read, and locks them in the order of their keys. It is one statement: between
 * several, a process that freezes would hold up everybody who needs one of these rows, as a batch of claims does.
 * @returns how many were written
 */
async function writeRenewed(db: Db, { table, key, writes }: SealedTable, renewed: readonly Values[]): Promise<number> {
  if (renewed.length === 0) return 0
  const rows = await db`
    with r as materialized (
      select ${sql.columns(`${key}, ${writes}`, 'r')} from ${sql.identifier(table)} t
      join ${sql.unnest('r', renewed, `${key}, ${writes}, row_version text` as string)} using (${sql.columns(key)})
      where t.xmin = r.row_version::xid
      order by ${sql.columns(key, 't')} for no key update of t
    )
    update ${sql.identifier(table)} t set ${sql.assignments('r', writes)} from r
    where (${sql.columns(key, 't')}) = (${sql.columns(key, 'r')})
    returning true as written
  `
  return rows.length
}
