import { fromMinorUnits, operations, playDayRows, type Reply, readPlayDay, toMinorUnits } from '@backoffice/contracts'
import { dateFormat } from '@backoffice/process'
import type { FastifyReply } from 'fastify'
import { type Cell, lines, link, money, nothing, type Row, rowWith, text } from '../pieces/cells.ts'
import { type Chart, chartOf } from '../pieces/chart.ts'
import { type Directory, directoryOf } from '../pieces/directory.ts'
import { daysFrom, daysGiven, type Filter, filterOf, operatorGiven, periodFields, valuesOf } from '../pieces/filters.ts'
import { sendCsv } from '../pieces/listed.ts'
import { showLists, showNotYours } from '../pieces/queue.ts'
import type { Pages, Visit } from '../pieces/visit.ts'
import { playTabs } from './rounds.ts'

const { listPlayDays, exportPlayDay } = operations.wallet

type PlayDay = Reply<typeof listPlayDays>['data'][number]

/** What was staked and won by day, of one brand, and the plays of a day as a file. Days are those of the brand's zone. */
export const playDayPages: Pages = (route) => {
  route.get('/play-days', showDays)
  route.get('/play-days.csv', async (visit) => {
    const { brand, operator } = await operatorGiven(visit)
    const day = visit.query.day ?? ''
    if (brand === undefined || operator === undefined) return visit.reply.redirect(visit.address('/play-days'), 303)
    // What is no day is no part of a file's name either.
    const asked = { brandId: brand.id, day: daysFrom(day, 0) }
    const pages = readPlayDay((input) => visit.person.call(exportPlayDay, input), asked)
    return sendCsv(visit, `play-${operator.name}-${visit.environment}-${day}`, playDayRows(pages))
  })
}

interface Asked {
  readonly operator: string
  readonly timeZone: string
  readonly input: { readonly brandId: string; readonly from: string; readonly to: string }
}

/** Whose play, and of which days: of the last seven, unless others are named. */
async function readAsked(page: Visit): Promise<{ readonly filter: Filter; readonly asked: Asked | undefined }> {
  const days = valuesOf(page, ['period', 'firstDay', 'lastDay'])
  const visit = { ...page, query: { ...page.query, ...(Object.keys(days).length === 0 && { period: 'last7Days' }) } }
  const { field, operator, brand } = await operatorGiven(visit)
  const filter = filterOf(visit, { list: 'playDays', path: '/play-days', fields: [field, ...periodFields] })
  if (operator === undefined || brand === undefined) return { filter, asked: undefined }
  const { timeZone } = brand
  const [first, last] = daysGiven(visit, timeZone)
  const [weekAgo, today] = daysGiven({ ...visit, query: { period: 'last7Days' } }, timeZone)
  const to = last === '' ? today : last
  const from = first === '' ? (to < weekAgo ? to : weekAgo) : first
  return { filter, asked: { operator: operator.name, timeZone, input: { brandId: brand.id, from, to } } }
}

async function showDays(visit: Visit): Promise<FastifyReply> {
  const { display, person } = visit
  const frame = { title: 'playDays', path: '/play-days', tabs: playTabs(visit, 'playDays') } as const
  if (!person.mayCall(listPlayDays)) return showNotYours(visit, frame, listPlayDays)
  const { filter, asked } = await readAsked(visit)
  if (asked === undefined) return showLists(visit, { ...frame, filter, remark: display.t('playDaysWhat') })
  const { input, timeZone, operator } = asked
  const [today] = daysGiven({ ...visit, query: { period: 'today' } }, timeZone)
  const [{ data }, directory] = await Promise.all([person.call(listPlayDays, input), directoryOf(visit)])
  const shown = { from: dayText(visit, input.from), to: dayText(visit, input.to), timeZone, operator }
  return showLists(visit, {
    ...frame,
    filter,
    remark: display.t('playDaysOf', shown),
    sections: [
      {
        title: 'totals',
        charts: chartsOf(visit, data, input),
        rows: totalsOf(data).map((row) =>
          sumsRow({ provider: lines(directory.providerCell(row.providerId), roundsOf(visit, row)) }, row),
        ),
      },
      { title: 'byDay', rows: data.map((row) => dayRow(visit, { row, directory, operator, today })) },
    ],
  })
}

/** A day without a time is the same in every zone. */
function dayText({ display }: Visit, day: string): string {
  const noon = new Date(`${day}T12:00:00Z`)
  return dateFormat(display.format, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }).format(noon)
}

interface DayRow {
  readonly row: PlayDay
  readonly directory: Directory
  readonly operator: string
  /** Of the brand: the file of a day is whole once it has ended. */
  readonly today: string
}

function dayRow(visit: Visit, { row, directory, operator, today }: DayRow): Row {
  const file = `/play-days.csv?${new URLSearchParams({ operator, day: row.day })}`
  const isOver = row.day < today
  const csv = isOver && visit.person.mayCall(exportPlayDay) ? link('CSV', visit.address(file)) : nothing
  return sumsRow(
    { day: lines(text(dayText(visit, row.day)), directory.providerCell(row.providerId), roundsOf(visit, row), csv) },
    row,
  )
}

const roundsOf = ({ display }: Visit, { rounds }: Pick<PlayDay, 'rounds'>): Cell =>
  text(display.t('roundsCount', { count: display.number(String(rounds)) }))

const sums = ['bets', 'wins', 'rollbacks', 'ggr', 'jackpots', 'promotions'] as const

/** GGR is bets without wins and rollbacks; jackpots and promotions stand beside it. */
const sumsRow = (first: Parameters<typeof rowWith>[0], row: Omit<PlayDay, 'brandId' | 'day'>): Row =>
  rowWith({ ...first, ...Object.fromEntries(sums.map((name) => [name, money(row[name], row.currency)])) })

/** Of all days, by provider and currency. */
function totalsOf(days: readonly PlayDay[]): readonly Omit<PlayDay, 'brandId' | 'day'>[] {
  const groups = Map.groupBy(days, ({ providerId, currency }) => `${providerId} ${currency}`)
  return [...groups.values()].flatMap((rows) => {
    const [first] = rows
    if (first === undefined) return []
    const { providerId, currency } = first
    const rounds = rows.reduce((sum, row) => sum + row.rounds, 0)
    const totals = sums.map((name) => [name, sumOf(rows.map((row) => row[name]))] as const)
    return [{ providerId, currency, rounds, ...(Object.fromEntries(totals) as Record<(typeof sums)[number], string>) }]
  })
}

const sumOf = (amounts: readonly string[]): string =>
  fromMinorUnits(amounts.map((amount) => toMinorUnits(amount)).reduce((sum, one) => sum + one, 0n))

/** GGR by day, of each currency: every day has its place, also one without play. */
function chartsOf(
  visit: Visit,
  days: readonly PlayDay[],
  { from, to }: Pick<Asked['input'], 'from' | 'to'>,
): readonly Chart[] {
  const { display } = visit
  const all: string[] = []
  for (let day = from; day <= to && all.length < 32; day = daysFrom(day, 1)) all.push(day)
  const ofCurrency = Map.groupBy(days, ({ currency }) => currency)
  return [...ofCurrency].map(([currency, rows]) =>
    chartOf({
      title: (low, high) => {
        const [least = '', most = ''] = [low, high].map((amount) => display.money(fromMinorUnits(amount), currency))
        return display.t('ggrByDay', { currency, low: least, high: most })
      },
      ends: [from, to].map((day) => dayText(visit, day)),
      series: [
        {
          kind: 'bar',
          points: all.map((day) => {
            const ggr = sumOf(rows.filter((row) => row.day === day).map((row) => row.ggr))
            return { amount: toMinorUnits(ggr), label: `${dayText(visit, day)}: ${display.money(ggr, currency)}` }
          }),
        },
      ],
    }),
  )
}
