import { camelCase, Fragment, fixed, sql } from './statement.ts'

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
export const columnNames = (columns: string, table?: string): Fragment => fixed(namesOf(columns, table))

/** What an UPDATE sets from `name`: `status = name.status, …`. */
export const assignments = (name: string, columns: string): Fragment =>
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
export function unnest<const Columns extends string>(
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
export function keyAbove(key: string, values: readonly string[]): Fragment {
  const types = columnsOf(key).map(({ type }) => type)
  const strings = types.map((_, index) => (index === 0 ? `(${namesOf(key)}) > (` : `::${types[index - 1]}, `))
  return new Fragment([...strings, `::${types.at(-1)})`] as unknown as TemplateStringsArray, values)
}

/** The key of a row as text. A time in it must have been stored in milliseconds. */
export const keyOf = (key: string, row: Readonly<Record<string, unknown>>): string[] =>
  columnsOf(key).map(({ field }) => {
    const value = row[field]
    return value instanceof Date ? value.toISOString() : String(value)
  })

/** What an INSERT takes to write records as they are: `(id, …) select id, … from unnest(…)`. */
export const rowsOf = <const Columns extends string>(
  name: string,
  records: readonly Readonly<Record<FieldsOf<Columns>, unknown>>[],
  columns: Columns,
): Fragment => sql`(${columnNames(columns)}) select ${columnNames(columns)} from ${unnest(name, records, columns)}`
