import { Rejection } from '@backoffice/contracts'
import Table from 'cli-table3'

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

export const titleOf = <Row>(column: Column<Row>): string => (typeof column === 'string' ? column : column[0])

export function valueIn<Row>(row: Row, column: Column<Row>): unknown {
  const value = typeof column === 'string' ? column : column[1]
  return typeof value === 'function' ? value(row) : row[value]
}

const text = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
  if (rows.length === 0) {
    process.stdout.write('none\n')
    return
  }
  const table = new Table({ head: columns.map(titleOf), ...plain })
  for (const row of rows) table.push(columns.map((column) => text(valueIn(row, column))))
  process.stdout.write(`${table.toString()}\n`)
}

/** A table under a title, below what was printed before. */
export function printSection<Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  process.stdout.write(title === '' ? '\n' : `\n${title}\n`)
  printTable(rows, columns)
}

/** One record, a line per field. */
export function printRecord(record: object): void {
  const entries = Object.entries(record)
  const width = Math.max(...entries.map(([name]) => name.length))
  for (const [name, value] of entries) process.stdout.write(`${name.padEnd(width)}  ${text(value)}\n`)
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Errors go to standard error, so that standard output holds results only. */
export function printError(error: unknown, json: boolean): void {
  const rejection = error instanceof Rejection ? error : undefined
  const code = rejection?.code ?? 'FAILED'
  const message = error instanceof Error ? error.message : String(error)
  if (json) process.stderr.write(`${JSON.stringify({ error: { code, message, details: rejection?.details } })}\n`)
  else
    process.stderr.write(
      `${code}: ${message}${rejection?.details === undefined ? '' : `\n${JSON.stringify(rejection.details, null, 2)}`}\n`,
    )
}
