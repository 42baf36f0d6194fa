import { moneyPattern, Rejection, visible } from '@backoffice/contracts'
import { Progress } from '@backoffice/process/progress'
import Table from 'cli-table3'
import stringWidth from 'string-width'

/** A column of a table: a field under its own name, or a title and the field or what a row shows there. */
export type Column<Row> =
  | (keyof Row & string)
  | readonly [title: string, value: (keyof Row & string) | ((row: Row) => unknown)]

/** Columns with two spaces between them, and no lines. */
const plain = {
  chars: Object.fromEntries(
    Object.keys(new Table().options.chars).map((part) => [part, part === 'middle' ? '  ' : '']),
  ),
  style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
}

const titleOf = <Row>(column: Column<Row>): string => (typeof column === 'string' ? column : column[0])

function valueIn<Row>(row: Row, column: Column<Row>): unknown {
  const value = typeof column === 'string' ? column : column[1]
  return typeof value === 'function' ? value(row) : row[value]
}

const moneyFormat = new RegExp(moneyPattern)
const withCurrency = (row: unknown, value: unknown): unknown => {
  const { currency } = row as { readonly currency?: string }
  return currency !== undefined && moneyFormat.test(String(value)) ? `${value} ${currency}` : value
}

/** Several lines. Only this program makes them: each text in them has gone through `visible`. */
const visibleLines = (text: string): string => visible(text, '\n')

const text = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–'
  return visible(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** All that this program says goes through here or `say`, and is visible. */
export function print(lines: string): void {
  process.stdout.write(visibleLines(lines))
}

/** To people, beside the result: on standard error, so that standard output holds results only. */
export function say(lines: string): void {
  process.stderr.write(visibleLines(lines))
}

/** How far an export is. Where its rows come into the terminal themselves, they tell. */
export const exporting = (what: string): Progress =>
  new Progress(what, process.stdout.isTTY ? { screen: { write: () => {} } } : {})

/** The pages of an export, as they are read. */
export async function* followed<Page>(
  what: string,
  pages: AsyncIterable<Page>,
  rowsIn: (page: Page) => { readonly rows: number; readonly all?: number },
): AsyncGenerator<Page> {
  using progress = exporting(what)
  let read = 0
  for await (const page of pages) {
    const { rows, all } = rowsIn(page)
    read += rows
    progress.at(`${read}${all === undefined ? '' : ` of ${all}`} rows`, all && read / all)
    yield page
  }
}

/** For a list that is shown again and again. A file or a program gets one after the other. */
export function clearScreen(): void {
  process.stdout.write(process.stdout.isTTY ? '\u001b[2J\u001b[3J\u001b[H' : '\n')
}

/**
 * @param width of the terminal; without one, a table is as wide as what is in it
 */
export function printTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number | undefined = process.stdout.isTTY ? process.stdout.columns : undefined,
): void {
  if (rows.length === 0) {
    print('none\n')
    return
  }
  const titles = columns.map(titleOf)
  const isApart = titles.includes('currency')
  const cells = rows.map((row) =>
    columns.map((column) => text(isApart ? valueIn(row, column) : withCurrency(row, valueIn(row, column)))),
  )
  const widths = width === undefined ? [] : columnWidths([titles, ...cells], width)
  if (widths === undefined) {
    printRecords(titles, cells)
    return
  }
  const fits = { colWidths: [...widths], wordWrap: true, wrapOnWordBoundary: true }
  const table = new Table({ head: titles, ...plain, ...(widths.length === 0 ? {} : fits) })
  table.push(...cells)
  print(`${table.toString()}\n`)
}

/** Where a table does not fit: a line per cell, and an empty one between two rows. */
function printRecords(titles: readonly string[], cells: readonly (readonly string[])[]): void {
  const records = cells.map((row) => Object.fromEntries(row.map((cell, index) => [titles[index] ?? '', cell])))
  for (const [index, record] of records.entries()) {
    if (index > 0) print('\n')
    printRecord(record)
  }
}

/** A table under a title, below what was printed before. */
export function printSection<Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  print(title === '' ? '\n' : `\n${title}\n`)
  printTable(rows, columns)
}

/** One record, a line per field. */
export function printRecord(record: object): void {
  const entries = Object.entries(record)
  const width = Math.max(...entries.map(([name]) => name.length))
  for (const [name, value] of entries) print(`${name.padEnd(width)}  ${text(value)}\n`)
}

/** One of several documents. */
export function printJsonLine(value: unknown): void {
  print(`${JSON.stringify(value)}\n`)
}

export function printJson(value: unknown): void {
  print(`${JSON.stringify(value, null, 2)}\n`)
}

export function printError(error: unknown, json: boolean): void {
  const rejection = error instanceof Rejection ? error : undefined
  const code = rejection?.code ?? 'FAILED'
  const message = error instanceof Error ? error.message : String(error)
  if (json) say(`${JSON.stringify({ error: { code, message, details: rejection?.details } })}\n`)
  else
    say(`${code}: ${message}${hintFor(code)}${
      rejection?.details === undefined
        ? ''
        : `
${JSON.stringify(rejection.details, null, 2)}`
    }
`)
}

/** What to do about it, where that is always the same. */
const hintFor = (code: string) =>
  code === 'LOGIN_REQUIRED' || code === 'FRESH_LOGIN_REQUIRED' ? ' npm run team -- login' : ''

const gap = 2
/** A column of text is still readable when it is so narrow. */
const readable = 12
/** An id or a moment: people copy and compare them, so they stay on one line. */
const whole = /^(?:[a-z]+_[0-9a-z]{20,}|\d{4}-\d\d-\d\dT[\d:.]+Z)$/

/**
 * How wide each column is, so that all fit beside each other: the widest lose most.
 * @returns none when they fit as they are; undefined when they do not fit at all
 */
export function columnWidths(rows: readonly (readonly string[])[], available: number): readonly number[] | undefined {
  const columns = (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? ''))
  const widths = columns.map((cells) => Math.max(...cells.map((cell) => stringWidth(cell))))
  const least = columns.map((cells, index) => {
    const words = cells.flatMap((cell) =>
      cell
        .split(' ')
        .filter((word) => whole.test(word))
        .map(({ length }) => length),
    )
    return Math.max(Math.min(readable, widths[index] ?? 0), ...words)
  })
  const room = available - gap * (columns.length - 1)
  if (sum(widths) <= room) return []
  if (sum(least) > room) return undefined
  while (sum(widths) > room) {
    const loose = [...widths.keys()].filter((index) => (widths[index] ?? 0) > (least[index] ?? 0))
    const widest = loose.reduce((best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best))
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
