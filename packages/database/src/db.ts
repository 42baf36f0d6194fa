import { createHash } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { type CustomTypesConfig, escapeIdentifier, type PoolClient, types } from 'pg'
import type { Vault } from './vault.ts'

/** A piece of SQL with its values, to be put into a statement. Its text must not vary with its values. */
export class Fragment {
  readonly strings: TemplateStringsArray
  readonly values: readonly unknown[]

  constructor(strings: TemplateStringsArray, values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}

const piece = (strings: TemplateStringsArray, ...values: readonly unknown[]): Fragment => new Fragment(strings, values)

/** The name of a table or column, quoted. Only for names that the source knows: each makes another statement. */
const identifier = (name: string): Fragment => fixed(escapeIdentifier(name))

/** SQL without values. Like `identifier`, only for text that the source knows. */
const fixed = (text: string): Fragment => new Fragment([text] as unknown as TemplateStringsArray, [])

/** A statement as PostgreSQL prepares it: once per connection, under a name that follows from its text. */
export class Statement {
  readonly text: string
  readonly name: string
  /** Those that it was compiled from, without their fragments. A test compares the rows that they declare. */
  readonly templates = new Set<TemplateStringsArray>()
  /** The names of its columns as a row has them; known after the first execution. */
  columns: readonly string[] | undefined

  constructor(text: string) {
    this.text = text
    this.name = `s${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
  }
}

const byTemplate = new WeakMap<TemplateStringsArray, Statement>()
const byText = new Map<string, Statement>()

/**
 * The statement that a template stands for. A template is written once in the source, so it is compiled once; only one
 * with fragments in it is put together again at each call.
 */
export function compile(
  strings: TemplateStringsArray,
  values: readonly unknown[],
): { readonly statement: Statement; readonly values: readonly unknown[] } {
  if (values.some((value) => value instanceof Fragment)) {
    const bound: unknown[] = []
    return { statement: statementOf(textOf(strings, values, bound), strings), values: bound }
  }
  let statement = byTemplate.get(strings)
  if (statement === undefined) {
    statement = statementOf(textOf(strings, values, []), strings)
    byTemplate.set(strings, statement)
  }
  return { statement, values }
}

function statementOf(text: string, template: TemplateStringsArray): Statement {
  let statement = byText.get(text)
  if (statement === undefined) {
    statement = new Statement(text)
    byText.set(text, statement)
  }
  statement.templates.add(template)
  return statement
}

/** Every statement that this process has compiled so far. */
export const knownStatements = (): readonly Statement[] => [...byText.values()]

/** The text with numbered parameters; each value that it binds is added to `bound`. */
function textOf(strings: TemplateStringsArray, values: readonly unknown[], bound: unknown[]): string {
  let text = ''
  strings.forEach((part, index) => {
    text += part
    if (index >= values.length) return
    const value = values[index]
    if (value instanceof Fragment) text += textOf(value.strings, value.values, bound)
    else text += `$${bound.push(value)}`
  })
  return text
}

/** How a column is called in a row: `brand_id` is `brandId`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/**
 * A template tag that runs a statement and returns its rows.
 * ```ts
 * const rows = await db<{ id: string; amount: bigint }>`select id, amount from record where id = any(${ids}::text[])`
 * ```
 * Columns are named in camelCase; int8 comes as bigint, numeric and date as text, timestamptz as Date, json parsed, and
 * arrays of them alike. The text is prepared once per connection: pass lists as arrays, so that it does not vary with
 * them.
 */
export type Statements = <Row extends object = Record<string, never>>(
  text: TemplateStringsArray,
  ...values: readonly unknown[]
) => Promise<Row[]>

/** The way to a service's data. */
export interface ReadDb extends Statements {
  /**
   * MikroORM's entity manager, for records that are edited one by one. It works in this handle's transaction. MikroORM and
   * the service's entities are loaded by the first call in the process.
   */
  em(): Promise<EntityManager>
  /** Seals and opens the personal data of this database. */
  readonly vault: Vault
}

/** The handle of a transaction that reads and locks, and changes nothing. */
export interface LockingDb extends ReadDb {
  readonly mayLock: true
  /** Sends statements that lock, in this order. They may insert rows that only serve to be locked. */
  lock(statements: readonly Fragment[]): Promise<void>
}

/** A handle that may write. PostgreSQL refuses a write over a handle that may only read. */
export interface Db extends LockingDb {
  readonly mayWrite: true
  /** Sends statements together, in this order. */
  write(statements: readonly Fragment[]): Promise<void>
  /** Writes what entities have changed so far. A transaction does this before it commits. */
  flush(): Promise<void>
}

export interface Transaction extends Db {
  /**
   * Commits in the flight of its last statements: COMMIT is sent right behind them, and nothing can be sent after it. A
   * statement that fails makes it a rollback.
   * @param write sends its statements at once: none may wait for another one's result
   * @param waits whether for the disk: false where what is lost with PostgreSQL is made again
   */
  commitWith<T>(write: () => Promise<T>, waits?: boolean): Promise<T>
}

export interface TransactionOptions {
  /** How long a statement may wait for a lock that somebody else holds. */
  readonly lockTimeoutMs?: number
  /**
   * It runs in a lane of its own, because it may have to wait for a lock. Such transactions together take at most half of
   * the connections.
   */
  readonly alone?: boolean | undefined
  /**
   * The first statements only read and lock (`lockingOver`), so they may be sent together with BEGIN. If BEGIN failed, each
   * statement after it would commit by itself.
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
  transaction<T>(run: (db: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  close(): Promise<void>
}

/** Statements that were looked at: those that only read and lock, and those that may insert to lock. */
const [locksOnly, insertsOnly] = [new WeakSet<Statement>(), new WeakSet<Statement>()]
const withoutLocks = (text: string) => text.replaceAll(/--[^\n]*/g, '').replaceAll(/\bfor (?:no key )?update\b/gi, '')
const changes = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate)\b/gi
/** Adds rows that are not there, and does nothing else. */
const insertsToLock = (text: string): boolean =>
  /^\s*insert\s+into\s.*\son\s+conflict\s+do\s+nothing\s*$/is.test(text) && text.match(changes)?.length === 1

/**
 * A transaction's handle for statements that leave together with BEGIN: if BEGIN failed, each would commit by itself. It
 * sends none that changes rows. That costs no round trip: each text is looked at once.
 */
export function lockingOver(db: Db): LockingDb {
  const assertLocks = (statement: Statement, mayInsert: boolean) => {
    if (locksOnly.has(statement) || (mayInsert && insertsOnly.has(statement))) return
    const text = withoutLocks(statement.text)
    if (text.search(changes) < 0) locksOnly.add(statement)
    else if (mayInsert && insertsToLock(text)) insertsOnly.add(statement)
    else throw new Error(`a statement that only reads and locks tried to write: ${text.trim()}`)
  }
  const locking = <Row extends object>(text: TemplateStringsArray, ...values: readonly unknown[]) => {
    assertLocks(compile(text, values).statement, false)
    return db<Row>(text, ...values)
  }
  return Object.assign(locking, {
    mayLock: true as const,
    vault: db.vault,
    em: () => Promise.reject(new Error('entities can be written, so this handle has none')),
    async lock(statements: readonly Fragment[]) {
      for (const { strings, values } of statements) assertLocks(compile(strings, values).statement, true)
      await db.write(statements)
    },
  })
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

/** The PostgreSQL type of a field of a record. */
type ColumnType =
  | 'text'
  | 'smallint'
  | 'int'
  | 'bigint'
  | 'float8'
  | 'bool'
  | 'timestamptz'
  | 'date'
  | 'uuid'
  | 'bytea'
  | 'json'

/** The fields that a list of columns stands for: `brandId` and `amount` of `brand_id text, amount bigint`. */
type FieldsOf<Columns extends string, Found = never> = Columns extends `${infer Column},${infer Others}`
  ? FieldsOf<Others, Found | FieldOf<Column>>
  : Found | FieldOf<Columns>
type FieldOf<Column extends string> = Column extends `${' ' | '\n'}${infer Rest}` | `${infer Rest}${' ' | '\n'}`
  ? FieldOf<Rest>
  : Column extends `${infer Name} ${ColumnType}`
    ? CamelCase<Name>
    : `no column with a type: ${Column}`
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

interface Column {
  readonly name: string
  readonly type: string
  readonly field: string
}

const columnsByText = new Map<string, readonly Column[]>()

function columnsOf(text: string): readonly Column[] {
  let columns = columnsByText.get(text)
  if (columns === undefined) {
    columns = text.split(',').map((column) => {
      const [name, type] = column.trim().split(' ') as [string, string]
      return { name, type, field: camelCase(name) }
    })
    columnsByText.set(text, columns)
  }
  return columns
}

const namesOf = (columns: string, table?: string): string =>
  columnsOf(columns)
    .map(({ name }) => (table === undefined ? name : `${table}.${name}`))
    .join(', ')

/** The names of columns that are written with their types: `id, amount` of `id text, amount bigint`. */
const columnNames = (columns: string, table?: string): Fragment => fixed(namesOf(columns, table))

/** What an UPDATE sets from `name`: `status = name.status, …`. */
const assignments = (name: string, columns: string): Fragment =>
  fixed(
    columnsOf(columns)
      .map((column) => `${column.name} = ${name}.${column.name}`)
      .join(', '),
  )

/**
 * A list of records as a table of a statement: `unnest($1::text[], …) with ordinality as name (id, …, place)`, where
 * `place` counts from 1. Columns are written with their types: `id text, created_at timestamptz`, each named after a field
 * of the records. The text follows from them, and not from how many records there are.
 */
function unnest<const Columns extends string>(
  name: string,
  records: readonly Readonly<Record<FieldsOf<Columns>, unknown>>[],
  columns: Columns,
): Fragment {
  const parsed = columnsOf(columns)
  const strings = ['unnest(', ...parsed.map(({ type }) => `::${type}[], `)]
  strings[parsed.length] = `::${parsed.at(-1)?.type}[]) with ordinality as ${name} (${namesOf(columns)}, place)`
  const values = parsed.map(({ field, type }) =>
    (records as readonly Readonly<Record<string, unknown>>[]).map((record) =>
      type === 'json' ? JSON.stringify(record[field] ?? null) : record[field],
    ),
  )
  return new Fragment(strings as unknown as TemplateStringsArray, values)
}

/** The condition that a row comes after another in the order of a key. @param values the other's key, as `keyOf` gives it */
function keyAbove(key: string, values: readonly string[]): Fragment {
  const types = columnsOf(key).map(({ type }) => type)
  const strings = types.map((_, index) => (index === 0 ? `(${namesOf(key)}) > (` : `::${types[index - 1]}, `))
  return new Fragment([...strings, `::${types.at(-1)})`] as unknown as TemplateStringsArray, values)
}

/** The key of a row as text. A time in it must have been stored in milliseconds. */
const keyOf = (key: string, row: Readonly<Record<string, unknown>>): string[] =>
  columnsOf(key).map(({ field }) => {
    const value = row[field]
    return value instanceof Date ? value.toISOString() : String(value)
  })

/** What an INSERT takes to write records as they are: `(id, …) select id, … from unnest(…)`. */
const rowsOf = <const Columns extends string>(
  name: string,
  records: readonly Readonly<Record<FieldsOf<Columns>, unknown>>[],
  columns: Columns,
): Fragment => piece`(${columnNames(columns)}) select ${columnNames(columns)} from ${unnest(name, records, columns)}`

/**
 * An UPDATE of rows that the transaction has locked, one for each record. PostgreSQL ends the transaction, by a division by
 * zero, when a row is not there: the COMMIT that is sent right behind would keep the rest.
 */
const everyRow = (records: readonly unknown[], update: Fragment): Fragment =>
  piece`with changed as (${update} returning true) select 1 / (count(*) = ${records.length}::int)::int from changed`

/** The UPDATE of locked rows that gives each the values of its record, by its id. As `everyRow`. */
const updateRows = <const Columns extends string>(
  table: string,
  records: readonly Readonly<Record<FieldsOf<`id text, ${Columns}`>, unknown>>[],
  columns: Columns,
): Fragment =>
  everyRow(
    records,
    piece`update ${identifier(table)} set ${assignments('new', columns)}
      from ${unnest('new', records, `id text, ${columns}`)} where ${identifier(table)}.id = new.id`,
  )

/**
 * A column of a statement that is a transaction of its own: its commit then does not wait for the disk. Only where what is
 * lost with PostgreSQL is made again. A later commit that waits is no reason: PostgreSQL may die between the two, and be
 * there again for the second.
 */
const synchronousCommit = (waits: boolean): Fragment =>
  piece`case when not ${waits}::bool then set_config('synchronous_commit', 'off', true) end as synchronous_commit`

const columns = { columns: columnNames, rows: rowsOf, assignments, unnest, identifier, fixed, everyRow, updateRows }
const made = { ...columns, keyAbove, keyOf, synchronousCommit }

/** Writes a piece of SQL that several statements share. Beside it, pieces that are made of names and records. */
export const sql = Object.assign(piece, made)
