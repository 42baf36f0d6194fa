import { Readable } from 'node:stream'
import { operations, type Transition, visible } from '@backoffice/contracts'
import { readNames } from '@backoffice/team-rows'
import { stringify } from 'csv-stringify/sync'
import type { FastifyReply } from 'fastify'
import { type Cell, type Fact, lines, type Row, status, text } from './cells.ts'
import { Seats } from './counts.ts'
import { reading } from './directory.ts'
import type { Visit } from './visit.ts'

/** The status of a record, which is the former one while its last decision is being carried out. */
export const settledStatus = ({ display }: Visit, row: { readonly status: string; readonly settling: boolean }): Cell =>
  lines(status(row.status), text(row.settling ? display.t('settlingShort') : null))

/** Each change of status of a deposit or a withdrawal. What the operator did stands under its name. */
export const historyOf = (transitions: readonly Transition[], operator: string) =>
  transitions.map(({ at, by, from, to, reason }) => ({
    at,
    who: by.kind === 'operator' ? operator : by.name,
    from,
    to,
    reason,
  }))

/** The name of an operator; its id while the gateway, which knows the names, does not answer. */
export async function operatorName({ person }: Visit, operatorId: string): Promise<string> {
  const operator = await person.call(operations.gateway.getOperator, { name: operatorId }).catch(() => undefined)
  return operator?.name ?? operatorId
}

/** The same of all operators. */
export async function operatorNames({ person }: Visit): Promise<(operatorId: string) => string> {
  const { nameOf } = await readNames(reading(person))
  return (operatorId) => nameOf(operatorId) ?? operatorId
}

export type CsvRow = readonly string[]

/** Downloads that one process writes at once. Each reads as long as there is more. */
const seats = new Seats({ max: 10, ofOneMax: 2 })

export const rowsPerRead = 500

/**
 * Sends rows as a CSV file, as they are read: a period may be larger than memory. The first of them are read before the
 * reply begins, so that a refusal is a page. What fails later ends the connection, and the browser says that the file
 * is not whole.
 * @param cell guards a text against spreadsheets; by default each
 */
export async function sendCsv(
  { log, reply, person }: Visit,
  name: string,
  rows: AsyncGenerator<readonly CsvRow[]>,
  cell = cellText,
): Promise<FastifyReply> {
  const textOf = (page: readonly CsvRow[]): string => stringify(page.map((row) => row.map(cell)))
  const leave = seats.take(person.name)
  if (leave === undefined) throw Object.assign(new Error('too many downloads'), { statusCode: 429 })
  const first = await firstOf(rows).catch((error) => {
    leave()
    throw error
  })
  async function* lines(): AsyncGenerator<string> {
    try {
      yield textOf(first)
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

const firstOf = async (rows: AsyncGenerator<readonly CsvRow[]>): Promise<readonly CsvRow[]> =>
  [await rows.next(), await rows.next()].flatMap(({ value }) => value ?? [])

/** What a spreadsheet takes for a formula, also behind what it takes away or does not show. */
const beginsFormula = /^[\s\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\t\r\n＝＋－＠]/u
const isNumber = /^-?\d+(\.\d+)?$/

/** Operators and players wrote parts of it. A quote in front makes a text of what would run as a formula. */
export function cellText(value: string): string {
  const shown = visible(value, '\n\r\t')
  return beginsFormula.test(value) && !isNumber.test(shown) ? `'${shown}` : shown
}

/** Where a list reads its next page; undefined for the first. */
type Read<Row> = (
  cursor: string | undefined,
) => Promise<{ readonly data: readonly Row[]; readonly nextCursor?: string | null }>

/** All rows of a list, page by page, with the named fields as columns. */
export const csvRows = <Row>(columns: readonly (keyof Row & string)[], read: Read<Row>) =>
  csvOf(columns, read, (row) => columns.map((column) => asText(row[column])))

/** The same with titles and cells of its own. */
export async function* csvOf<Row>(
  titles: CsvRow,
  read: Read<Row>,
  cellsOf: (row: Row) => CsvRow,
): AsyncGenerator<readonly CsvRow[]> {
  yield [titles]
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, nextCursor } = await read(cursor)
    yield data.map(cellsOf)
    cursor = nextCursor ?? null
  }
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

interface Column {
  readonly field: string
  /**
   * How it looks: `numeric` stands on the right, `less` goes where there is little room, `key` stands beside the first there,
   * and `named` says there what it is.
   */
  readonly look: string
}

interface Table {
  readonly columns: readonly Column[]
  /** With the cells of the columns that are shown, in their order. */
  readonly rows: readonly (Omit<Row, 'cells'> & { readonly cells: readonly (Column & { readonly cell: Cell })[] })[]
  readonly areOpened: boolean
  readonly areChosen: boolean
  /** Whether its rows have amounts: their times have seconds. */
  readonly isMoney: boolean
  /** In which column amounts stand; undefined where they are in none. */
  readonly amountAt: number | undefined
}

/** So many columns stay on a tablet. Authors put first what tells one row from another. */
const columnsKept = 5

/** Of these a value alone does not tell what it is of. */
const namedFields = ['pending', 'freshLogin', 'twoPeople', 'expected', 'actual']

/** The rows of a list as a table. What no row has is no column. */
export function tableOf(rows: readonly Row[]): Table {
  const areOpened = rows.some(({ href }) => href !== undefined)
  const fields = rows[0]?.cells ?? []
  const cellsAt = (index: number) => rows.map(({ cells }) => cells[index]?.cell ?? { kind: 'nothing' as const })
  const shown = fields.flatMap((_, index) => (cellsAt(index).some(({ kind }) => kind !== 'nothing') ? [index] : []))
  // Beside the first there is room for one amount and one status.
  const keyed = new Set<boolean>()
  const firstTime = shown.find((index) => cellsAt(index).some(isTime))
  const columns = shown.map((index, place) => {
    const cells = cellsAt(index)
    const isLess = areOpened && place >= columnsKept && !cells.some(isAlwaysSeen)
    const isAmount = cells.some(isMoneyCell)
    const isKey = place > 0 && cells.some(isAlwaysSeen) && !keyed.has(isAmount)
    if (isKey) keyed.add(isAmount)
    const field = fields[index]?.field ?? ''
    const isNamed = namedFields.includes(field) || (index !== firstTime && cells.some(isTime))
    const looks = { numeric: cells.every(isFigure), less: isLess, key: isKey, named: isNamed }
    const are = Object.entries(looks).flatMap(([look, is]) => (is ? [look] : []))
    return { field, look: are.join(' ') }
  })
  const shownCells = (cells: readonly Fact[]) =>
    shown.flatMap((index, place) => {
      const [column, fact] = [columns[place], cells[index]]
      return column === undefined || fact === undefined ? [] : [{ ...column, cell: fact.cell }]
    })
  return {
    columns,
    rows: rows.map(({ cells, ...row }) => ({ ...row, cells: shownCells(cells) })),
    areOpened,
    areChosen: rows.some(({ choice }) => choice !== undefined),
    isMoney: rows.some(({ cells }) => cells.some(({ cell }) => cell.kind === 'money')),
    amountAt: fieldAt(columns, 'amount'),
  }
}

const isFigure = ({ kind }: Cell): boolean => kind === 'money' || kind === 'number' || kind === 'nothing'

const isTime = ({ kind }: Cell): boolean => kind === 'time' || kind === 'moment' || kind === 'ago'

const isMoneyCell = (cell: Cell): boolean => cell.kind === 'money' || ('lines' in cell && cell.lines.some(isMoneyCell))

/** Whoever looks at a list on a small screen looks for these. */
const isAlwaysSeen = (cell: Cell): boolean =>
  cell.kind === 'status' || ('lines' in cell && cell.lines.some(isAlwaysSeen)) || isMoneyCell(cell)

const fieldAt = (columns: readonly Column[], name: string): number | undefined => {
  const at = columns.findIndex(({ field }) => field === name)
  return at < 0 ? undefined : at
}
