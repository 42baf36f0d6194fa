import {
  choicesOf,
  defined,
  type FieldSchema,
  type Input,
  listedDays,
  type Operation,
  type Reply,
  valueSchema,
} from '@backoffice/contracts'
import { type List, type Listed, nameOf } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { whenAway } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import { type Cell, cellOf, id, isIdText, lines, nothing, type Row, rowSchema, text } from './cells.ts'
import {
  choice,
  type FilterField,
  filterOf,
  operatorGiven,
  periodFields,
  periodOf,
  providerGiven,
  textField,
  valuesOf,
} from './filters.ts'
import { csvRows, rowsPerRead, sendCsv } from './listed.ts'
import { type ListFrame, type Sums, showList, showNotYours } from './queue.ts'
import type { Route, Visit } from './visit.ts'

/** What stands in some columns of a list, where a page says it better than as text. */
export type Cells<Row> = Readonly<Record<string, (row: Row) => Cell>>

/** The rows of a list of both programs, as this one shows them. */
export const listRows = <O extends Operation, Listed extends object>(
  { address, environment }: Visit,
  { operation, columns, folded = [], opens }: List<O, Listed>,
  rows: readonly Listed[],
  cells: Cells<Listed> = {},
): readonly Row[] =>
  rows.map((row) => ({
    ...defined({ href: opens && address(opens(row)) }),
    cells: [...columns, ...folded].map((column) => {
      const field = nameOf(column)
      const shown = typeof column === 'string' ? column : column[1]
      const cell = cells[field]?.(row)
      if (cell !== undefined) return { field, cell }
      if (typeof shown === 'string') return { field, cell: known(cellOf(rowSchema(operation.reply), row, shown)) }
      const value = shown(row, environment)
      const texts = (Array.isArray(value) ? value : [value]).map((one) => known(text(one)))
      return { field, cell: texts.length === 1 ? (texts[0] ?? nothing) : lines(...texts) }
    }),
  }))

/** An id is written as one, also where no schema says that it is. */
const known = (cell: Cell): Cell => (cell.kind === 'text' && isIdText(cell.text) ? id(cell.text) : cell)

/**
 * What the address of a page filters its list by.
 * @returns the fields of the filter, and the input; undefined where the operator that was asked for is not known: nothing can
 *   be listed then
 */
export async function filterGiven<O extends Operation, Row>(visit: Visit, list: List<O, Row>) {
  const { operation, filters = {}, choices: given = {}, period } = list
  const { properties = {} } = operation.body as FieldSchema
  const { operator: owner, ...others } = filters
  const owned = owner === undefined ? undefined : await operatorGiven(visit)
  const provided = filters.provider === undefined ? undefined : await providerGiven(visit)
  const values = valuesOf(visit, Object.keys(others))
  const [fields, asked]: [FilterField[], Record<string, string | undefined>] = [[], {}]
  for (const [name, field] of Object.entries(others)) {
    const choices = given[name] ?? choicesOf(valueSchema(properties[field] ?? {}))
    fields.push(choices.length > 0 ? choice(name, choices) : textField(name, field === 'playerId' ? 'ply_…' : ''))
    asked[field] = choices.length > 0 ? choices.find((known) => known === values[name]) : values[name]
  }
  if (provided !== undefined) asked.providerId = provided.id
  if (owner !== undefined) asked[owner] = owner === 'brandId' ? owned?.brand?.id : owned?.operator?.id
  if (period !== undefined) {
    const { from, to } = periodOf(visit)
    Object.assign(asked, { [period[0]]: from, [period[1]]: to })
  }
  if ('environment' in properties) asked.environment = visit.environment
  return {
    operator: owned?.operator,
    fields: [...(owned === undefined ? [] : [owned.field]), ...fields, ...(period === undefined ? [] : periodFields)],
    asked: owned?.isUnknown || provided?.isUnknown ? undefined : (defined(asked) as Partial<Input<O>>),
  }
}

/** Where a page of a list begins, and how many rows it has. */
interface Place {
  readonly cursor: string | undefined
  readonly limit: number
}

/** A page of what the filter leaves. */
export async function readList<O extends Operation<string, 'query'>, Row>(
  { person }: Visit,
  { operation }: List<O, Row>,
  asked: object | undefined,
  { cursor, limit }: Place,
): Promise<Reply<O> & { readonly data: readonly Listed<O>[]; readonly nextCursor: string | null }> {
  const place = 'before' in operation.body.properties ? 'before' : 'after'
  const input = { ...asked, limit, ...defined({ [place]: cursor }) } as unknown as Input<O>
  return (asked === undefined ? { data: [], nextCursor: null } : await person.call(operation, input)) as never
}

/** The page of a list that is filtered, shown and written to a file as every list is. */
interface ListPage<O extends Operation> {
  readonly list: List<O>
  readonly title: Word
  /** Of its first page, without the environment. */
  readonly path: string
  /** What is asked for besides the filter. */
  readonly fixed?: object
  /** The record whose list it is. */
  readonly about?: ListFrame['about']
  readonly cells?: (visit: Visit, rows: readonly Listed<O>[]) => Cells<Listed<O>> | Promise<Cells<Listed<O>>>
  /** Sums what the filter finds. */
  readonly sums?: Operation<string, 'query'>
  /** What else stands on the page. */
  readonly frame?: (visit: Visit, asked: Partial<Input<O>> | undefined, reply: Reply<O>) => Partial<ListFrame>
}

export async function showListed<O extends Operation<string, 'query'>>(
  visit: Visit,
  { list, title, path, fixed, about, cells, sums, frame }: ListPage<O>,
): Promise<FastifyReply> {
  const head = { title, path, ...defined({ about }) }
  if (!visit.person.mayCall(list.operation)) return showNotYours(visit, head, list.operation)
  const { fields, asked } = await filterGiven(visit, list)
  const place = { cursor: visit.query.after, limit: visit.display.rowsEach }
  const [reply, summed] = await Promise.all([
    readList(visit, list, asked && { ...asked, ...fixed }, place),
    sums && asked && (visit.person.call(sums, asked as Input<typeof sums>) as Promise<Sums>).catch(whenAway(undefined)),
  ])
  const [name = ''] = list.command.split(' ')
  return showList(visit, {
    ...head,
    ...(fields.length === 0 ? {} : { filter: filterOf(visit, { list: name, path, fields }) }),
    rows: listRows(visit, list, reply.data, await cells?.(visit, reply.data)),
    nextCursor: reply.nextCursor,
    sums: summed,
    ...frame?.(visit, asked, reply),
  })
}

/** The rows of a filtered list as a file, with the named fields as columns. */
export const addCsv = <O extends Operation<string, 'query'>>(
  route: Route,
  path: string,
  list: List<O>,
  columns: readonly (keyof Listed<O> & string)[],
) =>
  route.get(`${path}.csv`, async (visit) => {
    const { asked } = await filterGiven(visit, list)
    const read = (cursor: string | undefined) => readList(visit, list, asked, { cursor, limit: rowsPerRead })
    return sendCsv(visit, `${path.slice(1)}-${visit.environment}`, csvRows<Listed<O>>(columns, read))
  })

/** Said of a list that goes back some days only, because nothing says whose records are meant, nor since when. */
export const lately = (
  { display }: Visit,
  asked: {
    readonly brandId?: string
    readonly operatorId?: string
    readonly playerId?: string
    readonly from?: string
  } = {},
): string | undefined => {
  const { brandId, operatorId, playerId, from } = asked
  return (brandId ?? operatorId ?? playerId ?? from) === undefined
    ? display.t('listedLately', { days: listedDays })
    : undefined
}
