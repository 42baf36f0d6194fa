import { fromMinorUnits, operations, type Reply, toMinorUnits } from '@backoffice/contracts'
import { dateFormat, numberFormat } from '@backoffice/process'
import type { Word } from '../words/index.ts'
import { lines, money, nothing, rowWith, text } from './cells.ts'
import { chartOf, type Picture, type Point } from './chart.ts'
import { daysFrom, daysGiven } from './filters.ts'
import type { Visit } from './visit.ts'

const { timeWithdrawalDecisions } = operations.payments
const { timeKycDecisions } = operations.players
const { listMoneyDays } = operations.wallet

/** So many days are drawn, each beside the same weekday of the week before. */
const [drawnDays, weekDays] = [14, 7]

type MoneyDay = Reply<typeof listMoneyDays>['data'][number]

export async function drawMoney(visit: Visit): Promise<readonly Picture[]> {
  const { data } = await visit.person.call(listMoneyDays, { environment: visit.environment })
  const ofCurrency = [...Map.groupBy(data, ({ currency }) => currency)]
  if (ofCurrency.length === 0)
    return [{ title: visit.display.t('moneyByDay'), charts: [], rows: [], remark: visit.display.t('noMoneyYet') }]
  return ofCurrency.map(([currency, days]) => moneyOf(visit, currency, days))
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
  const { display } = visit
  const { t } = display
  const last = data.at(-1)
  if (last === undefined) return { title, charts: [], rows: [], remark: t('noneDecided', { days: timedDays }) }
  const known = new Map(data.map((one) => [one.day, one]))
  const days = daysBack(visit, timedDays).map((day) => ({ day, times: known.get(day) }))
  const pointsBy = (field: 'medianSeconds' | 'p90Seconds'): readonly Point[] =>
    days.map(({ times }) => ({ amount: times === undefined ? null : BigInt(times[field]), label: '' }))
  const shown = (seconds: number) => durationText(visit, seconds)
  return {
    title,
    charts: [
      chartOf({
        title: () =>
          t('timesOn', {
            day: weekdayText(visit, last.day),
            median: shown(last.medianSeconds),
            p90: shown(last.p90Seconds),
          }),
        ends: endsOf(visit, days),
        series: [
          { kind: 'line', name: t('ninetieth'), tone: 'down', isDashed: true, points: pointsBy('p90Seconds') },
          { kind: 'line', name: t('median'), tone: 'up', points: pointsBy('medianSeconds') },
        ],
      }),
    ],
    rows: data.toReversed().map(({ day, decided, medianSeconds, p90Seconds }) =>
      rowWith({
        day: text(weekdayText(visit, day)),
        median: text(shown(medianSeconds)),
        ninetieth: text(shown(p90Seconds)),
        decided: text(decided),
      }),
    ),
  }
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
