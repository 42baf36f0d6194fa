import type { EntityManager } from '@mikro-orm/postgresql'
import { type CustomTypesConfig, type PoolClient, types } from 'pg'
import { camelCase, compile, type Statement } from './statement.ts'
import type { Vault } from './vault.ts'

/**
 * The way to a service's data: a template tag that runs a statement and returns its rows.
 * ```ts
 * const rows = await db<{ id: string; amount: bigint }>`select id, amount from deposit where id = any(${ids}::text[])`
 * ```
 * Columns are named in camelCase; int8 comes as bigint, numeric and date as text, timestamptz as Date, json parsed, and
 * arrays of them alike. The text is prepared once per connection: pass lists as arrays, so that it does not vary with
 * them.
 */
export interface ReadDb {
  <Row extends object = Record<string, never>>(
    text: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Promise<Row[]>
  /**
   * MikroORM's entity manager, for records that are edited one by one. It works in this handle's transaction. MikroORM and
   * the service's entities are loaded by the first call in the process.
   */
  em(): Promise<EntityManager>
  /** Seals and opens the personal data of this database. */
  readonly vault: Vault
}

/** A handle that may write. PostgreSQL refuses a write over a handle that may only read. */
export interface Db extends ReadDb {
  readonly mayWrite: true
  /** Writes what entities have changed so far. A transaction does this before it commits. */
  flush(): Promise<void>
}

export interface TransactionOptions {
  /** How long a statement may wait for a lock that somebody else holds. */
  readonly lockTimeoutMs?: number
  /**
   * It runs apart from the others, because it may have to wait for a lock. Such transactions together take at most half of
   * the connections.
   */
  readonly apart?: boolean | undefined
  /**
   * The first statements only read and lock, so they may be sent together with BEGIN. If BEGIN failed, each statement
   * after it would commit by itself.
   */
  readonly readsFirst?: boolean
}

/**
 * A service's database: each statement is a transaction of its own unless it runs in `transaction`. Either runs again, as a
 * whole, when PostgreSQL asks for it (serialization failure, deadlock).
 */
export interface Database extends Db {
  /** For reading only: its connections refuse to write. */
  readonly reader: ReadDb
  /** The same for the team's reads: however long they take, operators' requests do not wait for them. */
  readonly teamReader: ReadDb
  /** One transaction: `run` may run more than once. */
  transaction<T>(run: (db: Db) => Promise<T>, options?: TransactionOptions): Promise<T>
  close(): Promise<void>
}

/** When the transaction began, on PostgreSQL's clock: what replicas share is judged by it. */
export async function readNow(db: ReadDb): Promise<Date> {
  const [row] = await db<{ now: Date }>`select now() as now`
  return (row as { now: Date }).now
}

/** What runs statements: a pool, or one of its connections. */
export type Queryable = Pick<PoolClient, 'query'>

/** PostgreSQL's own numbers of types. */
const oids = { int8: 20, int8Array: 1016, date: 1082, dateArray: 1182, numericArray: 1231, textArray: 1009 }

const toTexts: (text: string) => (string | null)[] = types.getTypeParser(oids.textArray)
const toBigInts = (text: string) => toTexts(text).map((value) => (value === null ? null : BigInt(value)))

/**
 * The types that the driver would decode in another way. A calendar date has no time zone, and a numeric is more exact
 * than a number.
 */
const decoders: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [oids.int8, BigInt],
  [oids.int8Array, toBigInts],
  [oids.date, (text) => text],
  [oids.dateArray, toTexts],
  [oids.numericArray, toTexts],
])

/** How values are decoded, for every statement of every service. */
const decoding: CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    decoders.get(oid) ?? types.getTypeParser(oid, format)) as CustomTypesConfig['getTypeParser'],
}

export async function execute<Row extends object>(
  connection: Queryable,
  text: TemplateStringsArray,
  parameters: readonly unknown[],
): Promise<Row[]> {
  const { statement, values } = compile(text, parameters)
  const result = await connection.query({
    name: statement.name,
    text: statement.text,
    values: values as unknown[],
    rowMode: 'array',
    types: decoding,
  })
  if (result.rows.length === 0) return []
  return toRows<Row>(statement, result.fields, result.rows)
}

function toRows<Row extends object>(
  statement: Statement,
  fields: readonly { readonly name: string }[],
  rows: readonly unknown[][],
): Row[] {
  statement.columns ??= fields.map(({ name }) => camelCase(name))
  const { columns } = statement
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) row[columns[index] as string] = values[index]
    return row as Row
  })
}
