import { isoOf } from './display.ts'

/** Days as people ask for them. A saved filter says "yesterday", whenever it is used. */
export const namedPeriods = ['today', 'yesterday', 'last7Days', 'thisMonth', 'lastMonth'] as const
type NamedPeriod = (typeof namedPeriods)[number]

/** From a moment on, and before another; each only where somebody asked for it. */
export interface Period {
  readonly from?: string
  readonly to?: string
}

interface Asked {
  /** A named period, or the first and the last day. */
  readonly query: Readonly<Record<string, string | undefined>>
  readonly timeZone: string
  readonly now: Date
}

/**
 * Whole days of a zone, the last one included.
 * @throws Error with the status 400 for what is no day
 */
export function periodOf({ query, timeZone, now }: Asked): Period {
  const today = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeZone }).format(now)
  const { period = '', firstDay = '', lastDay = '' } = query
  const [first, last] = isNamed(period) ? daysOf(period, today) : [firstDay, lastDay]
  return {
    ...(first === '' ? {} : { from: midnight(first, timeZone) }),
    ...(last === '' ? {} : { to: midnight(dayAfter(last), timeZone) }),
  }
}

const isNamed = (text: string): text is NamedPeriod => namedPeriods.some((known) => known === text)

function daysOf(period: NamedPeriod, today: string): readonly [first: string, last: string] {
  const firstOfMonth = `${today.slice(0, 8)}01`
  const lastMonth = daysFrom(firstOfMonth, -1)
  switch (period) {
    case 'today':
      return [today, today]
    case 'yesterday':
      return [daysFrom(today, -1), daysFrom(today, -1)]
    case 'last7Days':
      return [daysFrom(today, -6), today]
    case 'thisMonth':
      return [firstOfMonth, today]
    case 'lastMonth':
      return [`${lastMonth.slice(0, 8)}01`, lastMonth]
    default:
      return period satisfies never
  }
}

export const dayMs = 86_400_000

/** The day so many days after another. */
function daysFrom(day: string, days: number): string {
  const noon = Date.parse(`${day}T12:00:00Z`)
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(noon)) throw notADay(day)
  return new Date(noon + days * dayMs).toISOString().slice(0, 10)
}
const dayAfter = (day: string) => daysFrom(day, 1)

function midnight(day: string, timeZone: string): string {
  const at = isoOf(`${day}T00:00`, timeZone)
  if (at === undefined) throw notADay(day)
  return at
}

const notADay = (text: string) => Object.assign(new Error(`${text} is no day`), { statusCode: 400 })
