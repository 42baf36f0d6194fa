import { arrivalsMax, operations, type Reply } from '@backoffice/contracts'
import { whenAway } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import { type Cell, rowWith, text } from './cells.ts'
import { chartOf } from './chart.ts'
import { operatorNames } from './listed.ts'
import { firstOnly, type Picture } from './queue.ts'
import type { Visit } from './visit.ts'

const { listDeliveryHours } = operations.webhooks

/** By hour. */
type Arrivals = Pick<Reply<typeof listDeliveryHours>, 'events' | 'inTime'>

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0)
/** Rounded down, so that all of them means all. */
const shareOf = ({ display }: Visit, { events, inTime }: Arrivals): string =>
  display.percent(sumOf(inTime), sumOf(events), 'floor')
const figuresOf = (events = 0, inTime = 0) => ({ events: text(events), late: text(events - inTime) })

/** Whether the webhooks of a day arrive: of all operators by hour, and of those to whom most came late. */
export async function drawArrivals(visit: Visit): Promise<readonly Picture[]> {
  const { display, person, environment, address } = visit
  const { t } = display
  const { hours, data, ...all } = await person.call(listDeliveryHours, { environment })
  if (data.length === 0) return [{ title: t('arrivals'), remark: t('noneSent') }]
  const ownerOf = await operatorNames(visit)
  const shown = hours.map((hour) => display.shortTime(hour))
  const count = display.number(String(sumOf(all.events)))
  const said = t('arrivalsDrawn', { share: shareOf(visit, all), count, minutes: arrivalsMax.minutesInTime })
  const rows = shown.map((hour, at) => rowWith({ hour: text(hour), ...figuresOf(all.events[at], all.inTime[at]) }))
  return [
    {
      title: t('arrivals'),
      charts: [chartBy(visit, all, said, [shown[0] ?? '', shown.at(-1) ?? ''])],
      rows: rows.toReversed(),
    },
    {
      title: t('arrivalsByOperator'),
      ...firstOnly(visit, data, arrivalsMax.operators),
      isOpen: true,
      rows: data.map(({ operatorId, ...own }) => ({
        href: address(`/operators/${operatorId}`),
        ...rowWith({
          operator: text(ownerOf(operatorId)),
          inTime: shareCell(visit, own),
          ...figuresOf(sumOf(own.events), sumOf(own.inTime)),
        }),
      })),
    },
  ]
}

/** Bars upwards of what arrived in time, downwards of the rest. Between two ends it says what they are. */
function chartBy({ display: { t } }: Visit, { events, inTime }: Arrivals, title: string, ends: readonly string[]) {
  const bars = (tone: 'up' | 'down', name: Word, counts: readonly number[]) => ({
    ...({ kind: 'bar', tone, ...(ends.length > 0 && { name: t(name) }) } as const),
    points: counts.map((one) => ({ amount: BigInt(one), label: String(Math.abs(one)) })),
  })
  const late = events.map((all, at) => (inTime[at] ?? 0) - all)
  return chartOf({
    title: () => title,
    ends,
    series: [bars('up', 'arrivedInTime', inTime), bars('down', 'arrivedLate', late)],
  })
}

const shareCell = (visit: Visit, own: Arrivals): Cell => ({
  kind: 'chart',
  chart: chartBy(visit, own, shareOf(visit, own), []),
})

/** What arrived at each of these operators, by their ids, where the person may know it and there was any. */
export async function arrivalCells(visit: Visit, operatorIds: readonly string[]): Promise<ReadonlyMap<string, Cell>> {
  const { person, environment } = visit
  if (operatorIds.length === 0 || !person.mayCall(listDeliveryHours)) return new Map()
  const asked = { environment, operatorIds: [...operatorIds] }
  const { data } = await person.call(listDeliveryHours, asked).catch(whenAway({ data: [] }))
  return new Map(data.map(({ operatorId, ...own }) => [operatorId, shareCell(visit, own)]))
}
