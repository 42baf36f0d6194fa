import { Rejection } from '@backoffice/contracts'
import Table from 'cli-table3'

/** A column of a table: its title, and what a row shows there. */
export type Column<Row> = readonly [title: string, value: (row: Row) => unknown]

const plain = {
  chars: {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
    left: '',
    'left-mid': '',
    mid: '',
    'mid-mid': '',
    right: '',
    'right-mid': '',
    middle: '  ',
  },
  style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
} as const

const text = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
  if (rows.length === 0) {
    process.stdout.write('none\n')
    return
  }
  const table = new Table({
    head: columns.map(([title]) => title),
    chars: plain.chars,
    style: { ...plain.style, head: [], border: [] },
  })
  for (const row of rows) table.push(columns.map(([, value]) => text(value(row))))
  process.stdout.write(`${table.toString()}\n`)
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
