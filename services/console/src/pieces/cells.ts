import { isId, moneyPattern } from '@backoffice/contracts'
import type { TSchema } from '@sinclair/typebox'

/** One value as a page shows it. */
export type Cell =
  | { readonly kind: 'text' | 'id' | 'code' | 'folded' | 'status' | 'time' | 'ago'; readonly text: string }
  | { readonly kind: 'money'; readonly text: string; readonly currency: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string; readonly isElsewhere?: true }
  | { readonly kind: 'lines' | 'words'; readonly lines: readonly Cell[] }
  | { readonly kind: 'nothing' }

export interface Fact {
  /** Names the field in the catalogue of words. */
  readonly field: string
  readonly cell: Cell
}

/** A row of a table, and the page that it opens. */
export interface Row {
  readonly href?: string
  readonly cells: readonly Fact[]
}

/** A field under its own name, or a name and what stands there. */
export type ShownColumn<Row> = (keyof Row & string) | readonly [field: string, show: (row: Row) => Cell]

export const nothing: Cell = { kind: 'nothing' }
export const text = (value: unknown): Cell =>
  value === null || value === undefined || value === '' ? nothing : { kind: 'text', text: String(value) }
export const id = (value: string): Cell => ({ kind: 'id', text: value })
export const time = (value: string): Cell => ({ kind: 'time', text: value })
export const ago = (value: string): Cell => ({ kind: 'ago', text: value })
export const status = (value: string): Cell => ({ kind: 'status', text: value })
export const link = (value: string, href: string): Cell => ({ kind: 'link', text: value, href })
/** To a page of somebody else. An address that is none of the web is shown and leads nowhere. */
export const linkElsewhere = (value: string, href: string): Cell =>
  /^https?:\/\//.test(href) ? { kind: 'link', text: value, href, isElsewhere: true } : text(value)
export const money = (amount: string, currency: string): Cell => ({ kind: 'money', text: amount, currency })
export function lines(...cells: readonly Cell[]): Cell {
  const shown = cells.filter(({ kind }) => kind !== 'nothing')
  return shown.length === 0 ? nothing : { kind: 'lines', lines: shown }
}

/** Several beside each other. */
export const words = (...cells: readonly Cell[]): Cell =>
  cells.length === 0 ? nothing : { kind: 'words', lines: cells }

/** As much of JSON Schema as the replies of the team's operations use. */
interface Schema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly const?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

/** What the rows of a list are: the elements of `data` in its reply. */
export const rowSchema = (reply: TSchema): TSchema =>
  ((reply as Schema).properties?.data?.items as TSchema | undefined) ?? reply

/** Fields of a record as cells. The operation's schema says what each one is: a time, an amount, a status, an id. */
export function factsOf<Row extends object>(
  schema: TSchema,
  row: Row,
  shown: readonly ShownColumn<Row>[],
): readonly Fact[] {
  return shown.map((entry) =>
    typeof entry === 'string'
      ? { field: entry, cell: cellOf(schema, row, entry) }
      : { field: entry[0], cell: entry[1](row) },
  )
}

function cellOf(schema: TSchema, row: object, field: string): Cell {
  const value = (row as Readonly<Record<string, unknown>>)[field]
  if (value === null || value === undefined || value === '') return nothing
  const known = valueSchema((schema as Schema).properties?.[field] ?? {})
  if (known.format === 'date-time') return { kind: 'time', text: String(value) }
  if (isMoney(known)) return money(String(value), (row as { readonly currency?: string }).currency ?? '')
  if (known.anyOf?.every((choice) => choice.const !== undefined)) return status(String(value))
  if (isId(known)) return id(String(value))
  if (Array.isArray(value)) return value.length === 0 ? nothing : lines(...value.map(text))
  return typeof value === 'object' ? { kind: 'code', text: JSON.stringify(value) } : text(value)
}

const isMoney = ({ pattern }: Schema) => pattern === moneyPattern

/** Not null. */
function valueSchema(schema: Schema): Schema {
  const { anyOf = [] } = schema
  if (!anyOf.some(({ type }) => type === 'null')) return schema
  const [first = {}, ...others] = anyOf.filter(({ type }) => type !== 'null')
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}
