import { defined, operations, type Reply, readStatement, statementRows } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { type Cell, money, type Row, rowsOf, rowWith, status, text } from '../pieces/cells.ts'
import { playerCells } from '../pieces/directory.ts'
import { type Filter, filterOf, operatorGiven, type Period, periodFields, periodOf } from '../pieces/filters.ts'
import { sendCsv } from '../pieces/listed.ts'
import { showLists, showNotYours } from '../pieces/queue.ts'
import type { Pages, Visit } from '../pieces/visit.ts'
import { referenceCell } from './entries.ts'

const { exportStatement } = operations.wallet

type Totals = Reply<typeof exportStatement>['totals'][number]

/** An operator's ledger over a period, with its balance before and after. Its days are those of the operator's brand. */
export const statementPages: Pages = (route) => {
  route.get('/statement', showStatement)
  route.get('/statement.csv', async (visit) => {
    const { asked } = await readAsked(visit)
    if (asked === undefined) return visit.reply.redirect(visit.address('/statement'), 303)
    const pages = readStatement((input) => visit.person.call(exportStatement, input), asked.input)
    return sendCsv(visit, `statement-${asked.name}-${visit.environment}`, statementRows(pages))
  })
}

/** The service gives out what was entered a minute ago or before: by then everything of that time can be read. */
const settledAfterMs = 75_000

interface Asked {
  readonly name: string
  readonly timeZone: string
  readonly input: { readonly brandId: string; readonly from: string; readonly to: string }
}

/** Whose statement, and of which period. Nothing is asked for until both are given. */
async function readAsked(visit: Visit): Promise<{ readonly filter: Filter; readonly asked: Asked | undefined }> {
  const { now, display } = visit
  const { field, operator, brand } = await operatorGiven(visit)
  const filter = filterOf(visit, { list: 'statement', path: '/statement', fields: [field, ...periodFields] })
  const timeZone = brand?.timeZone ?? display.timeZone
  const period = untilSettled(periodOf(visit, timeZone), now)
  if (operator === undefined || brand === undefined || period === undefined) return { filter, asked: undefined }
  return { filter, asked: { name: operator.name, timeZone, input: { brandId: brand.id, ...period } } }
}

/** Undefined: it has no beginning, or has not begun. */
function untilSettled({ from, to }: Period, now: Date): Required<Period> | undefined {
  const settled = new Date(now.getTime() - settledAfterMs).toISOString()
  if (from === undefined || from >= settled) return undefined
  return { from, to: to === undefined || to > settled ? settled : to }
}

async function showStatement(visit: Visit): Promise<FastifyReply> {
  const { display, person, query, address } = visit
  const list = { title: 'statement', path: '/statement' } as const
  if (!person.mayCall(exportStatement)) return showNotYours(visit, list, exportStatement)
  const { filter, asked } = await readAsked(visit)
  if (asked === undefined) return showLists(visit, { ...list, filter, remark: display.t('statementWhat') })
  const { input, timeZone } = asked
  const { data, nextCursor, totals } = await person.call(exportStatement, {
    ...input,
    ...defined({ cursor: query.after }),
    limit: display.rowsEach,
  })
  const ofBrand = ({ playerId }: (typeof data)[number]) => ({ playerId, brandId: input.brandId })
  const player = await playerCells(visit, data.map(ofBrand))
  const rows = rowsOf(
    exportStatement.reply,
    data,
    [
      'createdAt',
      ['player', (row) => player(ofBrand(row))],
      'type',
      'amount',
      'balanceAfter',
      ['reference', (row) => referenceCell(visit, row)],
    ],
    (row) => address(`/players/${row.playerId}/entries/${row.transferId}`),
  )
  return showLists(visit, {
    ...list,
    filter,
    csv: '/statement.csv',
    remark: display.t('statementOf', { from: display.time(input.from), to: display.time(input.to), timeZone }),
    sections: [
      { title: 'totals', rows: totals.flatMap((total) => totalsRows(visit, total)), isAbove: true },
      { title: 'entries', rows },
    ],
    nextCursor,
  })
}

/** The balance before, what changed it, and the balance after. */
function totalsRows({ display }: Visit, total: Totals): readonly Row[] {
  const { currency, openingBalance, closingBalance, net, entries, byType } = total
  const line = (total: Cell, amount: string, count?: number): Row =>
    rowWith({ total, entries: text(count), amount: money(amount, currency) })
  return [
    line(text(display.t('openingBalance')), openingBalance),
    ...byType.map(({ type, entries: count, amount }) => line(status(type), amount, count)),
    line(text(display.t('net')), net, entries),
    line(text(display.t('closingBalance')), closingBalance),
  ]
}
