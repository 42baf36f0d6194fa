import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import type { FastifyReply } from 'fastify'
import { visible } from '../text.ts'
import { Seats } from './seats.ts'
import type { Visit } from './visit.ts'

export type CsvRow = readonly string[]

/** Downloads that one process writes at once. Each reads as long as there is more. */
const seats = new Seats({ max: 10, ofOneMax: 2 })

/** How many rows are read at once. */
export const rowsPerRead = 500

/**
 * Sends rows as a CSV file, as they are read: a period may be larger than memory. The first of them are read before the
 * reply begins, so that a refusal is a page. What fails later ends the connection, and the browser says that the file
 * is not whole.
 */
export async function sendCsv(
  { log, reply, person }: Visit,
  name: string,
  rows: AsyncGenerator<readonly CsvRow[]>,
): Promise<FastifyReply> {
  const leave = seats.take(person.name)
  if (leave === undefined) throw Object.assign(new Error('too many downloads'), { statusCode: 429 })
  const first = await firstOf(rows).catch((error) => {
    leave()
    throw error
  })
  async function* lines(): AsyncGenerator<string> {
    try {
      yield first
      for await (const page of rows) yield textOf(page)
    } catch (error) {
      log.warn({ err: error, name }, 'a download ended before its end')
      throw error
    }
  }
  const file = Readable.from(lines())
  // Also when nobody ever read from it.
  file.once('close', leave)
  return reply
    .headers({
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
    })
    .send(file)
}

/** The titles, and the first rows. */
async function firstOf(rows: AsyncGenerator<readonly CsvRow[]>): Promise<string> {
  const pages = [await rows.next(), await rows.next()]
  return pages.map(({ value }) => textOf(value ?? [])).join('')
}

const textOf = (rows: readonly CsvRow[]): string => stringify(rows.map((row) => row.map(cellText)))

/** What a spreadsheet takes for a formula. */
const beginsFormula = /^[=+\-@\t\r\n＝＋－＠]/
const isNumber = /^-?\d+(\.\d+)?$/

/** Operators and players wrote parts of it. A quote in front makes a text of what would run as a formula. */
export function cellText(value: string): string {
  const shown = visible(value)
  return beginsFormula.test(shown) && !isNumber.test(shown) ? `'${shown}` : shown
}

/** Where a list reads its next page; undefined for the first. */
type Read<Row> = (
  cursor: string | undefined,
) => Promise<{ readonly data: readonly Row[]; readonly nextCursor?: string | null }>

/** All rows of a list, page by page, with the named fields as columns. */
export async function* csvRows<Row>(
  columns: readonly (keyof Row & string)[],
  read: Read<Row>,
): AsyncGenerator<readonly CsvRow[]> {
  yield [columns]
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, nextCursor } = await read(cursor)
    yield data.map((row) => columns.map((column) => asText(row[column])))
    cursor = nextCursor ?? null
  }
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
