import {
  defined,
  fromMinorUnits,
  operations,
  type Reply,
  type ServiceName,
  sumRowsMax,
  toMinorUnits,
} from '@backoffice/contracts'
import { dateFormat, numberFormat } from '@backoffice/process'
import { whenAway } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import { lines, money, nothing, rowWith, text } from './cells.ts'
import { chartOf, type Series } from './chart.ts'
import { daysFrom, daysGiven, periodOf } from './filters.ts'
import type { Picture } from './queue.ts'
import type { Visit } from './visit.ts'

const { sumDeposits, timeWithdrawalDecisions } = operations.payments
const { timeKycDecisions } = operations.players
const { listBalanceDays, listMoneyDays } = operations.wallet

/** So many days are drawn, each beside the same weekday of the week before. */
const [drawnDays, weekDays] = [14, 7]

type MoneyDay = Reply<typeof listMoneyDays>['data'][number]

export async function drawMoney(visit: Visit, brandId?: string): Promise<readonly Picture[]> {
  const { person, environment, display } = visit
  const { t } = display
  const asked = { environment, ...defined({ brandId }) }
  const { data, countedUntil = null } = await person.call(listMoneyDays, asked)
  const ofCurrency = [...Map.groupBy(data, ({ currency }) => currency)]
  if (ofCurrency.length === 0)
    return [{ title: t('moneyByDay'), remark: t(countedUntil === null ? 'noMoneyYet' : 'moneyNotCounted') }]
  const remark = countedUntil === null ? {} : { remark: t('moneyCounted', { until: display.time(countedUntil) }) }
  return ofCurrency.map(([currency, days]) => ({ ...moneyOf(visit, currency, days), ...remark }))
}

function moneyOf(visit: Visit, currency: string, data: readonly MoneyDay[]): Picture {
  const { display } = visit
  const { t } = display
  const known = new Map(data.map((one) => [one.day, one]))
  const shown = (amount: bigint) => display.money(fromMinorUnits(amount), currency)
  const on = (day: string) => {
    const { deposited = '0.00', withdrawn = '0.00' } = known.get(day) ?? {}
    const [into, out] = [toMinorUnits(deposited), toMinorUnits(withdrawn)]
    return { into, out, net: into - out }
  }
  const days = daysBack(visit, drawnDays).map((day) => ({ day, ...on(day), before: on(daysFrom(day, -weekDays)) }))
  const today = days.at(-1)
  const pointsBy = (amount: (day: (typeof days)[number]) => bigint, name: Word) =>
    days.map((day) => ({
      amount: amount(day),
      label: `${weekdayText(visit, day.day)}: ${t(name)} ${shown(amount(day))}`,
    }))
  const so = today ?? { into: 0n, out: 0n, net: 0n, before: { into: 0n, out: 0n, net: 0n } }
  return {
    title: ofCurrencyText(t('moneyByDay'), currency),
    isWide: true,
    charts: [
      chartOf({
        title: () =>
          t('moneyToday', {
            ...{ into: shown(so.into), out: shown(so.out), net: shown(so.net) },
            ...{ intoBefore: shown(so.before.into), outBefore: shown(so.before.out) },
          }),
        ends: endsOf(visit, days),
        series: [
          { kind: 'bar', name: t('moneyIn'), tone: 'up', points: pointsBy(({ into }) => into, 'moneyIn') },
          { kind: 'bar', name: t('moneyOut'), tone: 'down', points: pointsBy(({ out }) => -out, 'moneyOut') },
          { kind: 'line', name: t('moneyNet'), points: pointsBy(({ net }) => net, 'moneyNet') },
          {
            kind: 'line',
            name: t('weekBefore'),
            isDashed: true,
            points: pointsBy(({ before }) => before.into, 'weekBefore'),
          },
          { kind: 'line', isDashed: true, points: pointsBy(({ before }) => -before.out, 'weekBefore') },
        ],
      }),
    ],
    rows: days.toReversed().map(({ day, into, out, net, before }) => {
      const cell = (amount: bigint) => money(fromMinorUnits(amount), currency)
      return rowWith({
        day: lines(text(weekdayText(visit, day)), day === today?.day ? text(t('soFar')) : nothing),
        moneyIn: cell(into),
        moneyOut: cell(out),
        moneyNet: cell(net),
        moneyInBefore: cell(before.into),
        moneyOutBefore: cell(before.out),
      })
    }),
  }
}

const ofCurrencyText = (title: string, currency: string): string => `${title} (${currency})`

/** The last days of the page's zone, the oldest first. */
function daysBack(visit: Visit, count: number): readonly string[] {
  const [today] = daysGiven({ ...visit, query: { period: 'today' } }, visit.display.timeZone)
  return Array.from({ length: count }, (_, index) => daysFrom(today, index + 1 - count))
}

/** A day without a time is the same in every zone. */
const weekdayText = ({ display }: Visit, day: string): string =>
  dateFormat(display.format, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(`${day}T12:00:00Z`),
  )

const endsOf = (visit: Visit, days: readonly { readonly day: string }[]): readonly string[] =>
  [days[0], days.at(-1)].map((one) => weekdayText(visit, one?.day ?? ''))

const timedDays = 30

export async function drawWithdrawalTimes(visit: Visit): Promise<readonly Picture[]> {
  const { environment, display } = visit
  const { data } = await visit.person.call(timeWithdrawalDecisions, { environment, timeZone: display.timeZone })
  return [timesOf(visit, display.t('withdrawalTimes'), data)]
}

export async function drawKycTimes(visit: Visit): Promise<readonly Picture[]> {
  const { environment, display } = visit
  const { data } = await visit.person.call(timeKycDecisions, { environment, timeZone: display.timeZone })
  return [timesOf(visit, display.t('kycTimes'), data)]
}

type DecisionDay = Reply<typeof timeKycDecisions>['data'][number]

/** How long decisions took by day: a line for the median, and one for the 90th of a hundred. */
function timesOf(visit: Visit, title: string, data: readonly DecisionDay[]): Picture {
  const { t } = visit.display
  const last = data.at(-1)
  if (last === undefined) return { title, remark: t('noneDecided', { days: timedDays }) }
  const shown = (seconds: number) => durationText(visit, seconds)
  const times = { median: shown(last.medianSeconds), p90: shown(last.p90Seconds) }
  return linesOf(visit, data, {
    title,
    said: () => t('timesOn', { day: weekdayText(visit, last.day), ...times }),
    lines: [
      { name: t('ninetieth'), tone: 'down', isDashed: true, amountOf: ({ p90Seconds }) => BigInt(p90Seconds) },
      { name: t('median'), tone: 'up', amountOf: ({ medianSeconds }) => BigInt(medianSeconds) },
    ],
    cellsOf: ({ decided, medianSeconds, p90Seconds }) => ({
      median: text(shown(medianSeconds)),
      ninetieth: text(shown(p90Seconds)),
      decided: text(decided),
    }),
  })
}

interface Lines<Day> {
  readonly title: string
  readonly days?: number
  readonly said: (low: bigint, high: bigint) => string
  readonly lines: readonly (Omit<Series, 'kind' | 'points'> & { readonly amountOf: (day: Day) => bigint })[]
  readonly cellsOf: (day: Day) => Parameters<typeof rowWith>[0]
}

/** Lines through the days that something is known of, and a row for each of those. */
function linesOf<Day extends { readonly day: string }>(
  visit: Visit,
  data: readonly Day[],
  { title, days: count = timedDays, said, lines: drawn, cellsOf }: Lines<Day>,
): Picture {
  const known = new Map(data.map((one) => [one.day, one]))
  const days = daysBack(visit, count).map((day) => ({ day, one: known.get(day) }))
  const series = drawn.map(({ amountOf, ...line }) => ({
    ...({ kind: 'line', ...line } as const),
    points: days.map(({ one }) => ({ amount: one === undefined ? null : amountOf(one), label: '' })),
  }))
  return {
    title,
    charts: [chartOf({ title: said, ends: endsOf(visit, days), series })],
    rows: data.toReversed().map((one) => rowWith({ day: text(weekdayText(visit, one.day)), ...cellsOf(one) })),
  }
}

/** In place of a picture while the service that knows it does not answer. */
const whileAway = ({ display: { t } }: Visit, title: Word, away: ServiceName) => whenAway([{ title: t(title), away }])

/** What a player had at the end of each day. Nothing where nobody may say, or there never was an entry. */
export const drawBalance = async (visit: Visit, playerId: string): Promise<readonly Picture[]> =>
  visit.person.mayCall(listBalanceDays)
    ? balanceOf(visit, playerId).catch(whileAway(visit, 'balanceByDay', 'wallet'))
    : []

async function balanceOf(visit: Visit, playerId: string): Promise<readonly Picture[]> {
  const { person, display } = visit
  const { t, timeZone } = display
  const { data } = await person.call(listBalanceDays, { playerId, timeZone })
  const [first] = data
  if (first === undefined) return []
  const shown = (amount: bigint) => display.money(fromMinorUnits(amount), first.currency)
  return [
    linesOf(visit, data, {
      title: t('balanceByDay'),
      said: (low, high) => t('balanceDrawn', { low: shown(low), high: shown(high) }),
      lines: [{ tone: 'up', amountOf: ({ balance }) => toMinorUnits(balance) }],
      cellsOf: ({ balance, currency }) => ({ balance: money(balance, currency) }),
    }),
  ]
}

interface Brand {
  readonly id: string
  readonly timeZone: string
}

/** What the players of a brand deposited and were paid by day of its calendar, and how many of the deposits failed. */
export async function drawBrand(whole: Visit, { id: brandId, timeZone }: Brand): Promise<readonly Picture[]> {
  const visit = { ...whole, display: { ...whole.display, timeZone } }
  if (!visit.person.mayCall(sumDeposits)) return []
  const pictures = await Promise.all([
    drawMoney(visit, brandId).catch(whileAway(visit, 'moneyByDay', 'wallet')),
    failuresOf(visit, brandId).catch(whileAway(visit, 'failedDeposits', 'payments')),
  ])
  return pictures.flat()
}

/** Of so many days it is counted how many deposits failed: each reads the ten thousand of its day that are newest. */
const failedDays = 7

async function failuresOf(visit: Visit, brandId: string): Promise<readonly Picture[]> {
  const { person, display } = visit
  const { t } = display
  const sums = daysBack(visit, failedDays).map(async (day) => {
    const period = periodOf({ ...visit, query: { firstDay: day, lastDay: day } })
    const { data, isWhole } = await person.call(sumDeposits, { brandId, ...period })
    const [failed = 0, confirmed = 0] = ['failed', 'confirmed'].map(
      (of) => data.find(({ status }) => status === of)?.count,
    )
    return { day, failed, settled: failed + confirmed, isWhole }
  })
  const known = (await Promise.all(sums)).filter(({ settled }) => settled > 0)
  if (known.length === 0) return []
  const failures = linesOf(visit, known, {
    title: t('failedDeposits'),
    days: failedDays,
    said: (_, most) => t('failuresDrawn', { most: display.number(String(most)) }),
    lines: [{ tone: 'down', amountOf: ({ failed }) => BigInt(failed) }],
    cellsOf: ({ settled, failed }) => ({
      failedDeposits: text(failed),
      failedShare: text(display.percent(failed, settled, 'ceil')),
      settledDeposits: text(settled),
    }),
  })
  const remark = t('failuresCut', { most: display.number(String(sumRowsMax)) })
  return [known.every(({ isWhole }) => isWhole) ? failures : { ...failures, remark }]
}

const units = [
  ['day', 86_400, 2],
  ['hour', 3_600, 1],
  ['minute', 60, 1],
] as const

/** In its largest unit, with one digit behind it. */
function durationText({ display }: Visit, seconds: number): string {
  const [unit, size] = units.find(([, length, least]) => seconds >= length * least) ?? (['second', 1] as const)
  const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return numberFormat(display.format, options).format(seconds / size)
}
