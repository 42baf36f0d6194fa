import { ageFromHours, defined, operations, Rejection } from '@backoffice/contracts'
import { dateFormat, dayMs, hourMs } from '@backoffice/process'
import { isoOf } from '../../assets/signing.js'
import { keepFilters, leaveNotice, type SavedFilter, savedFilters } from '../identity/cookies.ts'
import { whenAway } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import { type Display, goTo, ownAddress } from './cells.ts'
import type { Pages, Visit } from './visit.ts'

/** Days as people ask for them. A saved filter says "yesterday", whenever it is used. */
const namedPeriods = ['today', 'yesterday', 'last7Days', 'thisMonth', 'lastMonth'] as const
type NamedPeriod = (typeof namedPeriods)[number]

/** From a moment on, and before another; each only where somebody asked for it. */
export interface Period {
  readonly from?: string
  readonly to?: string
}

interface Asked {
  /** A named period, or the first and the last day. */
  readonly query: Visit['query']
  /** The zone of the page, unless another one is given. */
  readonly display: Pick<Visit['display'], 'timeZone'>
  readonly now: Date
}

/**
 * Whole days of a zone, the last one included.
 * @throws Error with the status 400 for what is no day
 */
export function periodOf(asked: Asked, timeZone = asked.display.timeZone): Period {
  const [first, last] = daysGiven(asked, timeZone)
  return defined({
    from: first === '' ? undefined : midnight(first, timeZone),
    to: last === '' ? undefined : midnight(dayAfter(last), timeZone),
  })
}

/** The first and the last day of what was asked for; each is empty where nobody named one. */
export function daysGiven({ query, now }: Asked, timeZone: string): readonly [first: string, last: string] {
  const today = dateFormat('sv', { dateStyle: 'short', timeZone }).format(now)
  const { period = '', firstDay = '', lastDay = '' } = query
  return isNamed(period) ? daysOf(period, today) : [firstDay, lastDay]
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

/**
 * The day so many days after another.
 * @throws Error with the status 400 for what is no day
 */
export function daysFrom(day: string, days: number): string {
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

const { getOperator, getProvider, listOperators } = operations.gateway

/** A field of a list's filter. Its name stands in the address, and names it in the catalogue of words. */
export interface FilterField {
  readonly name: string
  readonly kind: 'text' | 'choice' | 'day' | 'yes'
  /** Of a choice: the values; of a text: what is proposed. */
  readonly choices?: readonly string[]
  readonly placeholder?: string
  /** What is wrong with what was filled in. */
  readonly issue?: string | undefined
}

/** Longer texts are no values of any field. */
const valueLengthMax = 254

/** What is filled in in the address of a list. */
export function valuesOf({ query }: Pick<Visit, 'query'>, names: readonly string[]): Readonly<Record<string, string>> {
  const given = names.map((name) => [name, String(query[name] ?? '').trim()] as const)
  return Object.fromEntries(
    given.flatMap(([name, text]) => (text === '' ? [] : [[name, text.slice(0, valueLengthMax)]])),
  )
}

/** The head of a list, with what the address of the page fills in, and the filters that somebody saved under `list`. */
export function filterOf(
  visit: Visit,
  { list, path, fields }: { readonly list: string; readonly path: string; readonly fields: readonly FilterField[] },
) {
  const names = fields.map(({ name }) => name)
  const values = valuesOf(visit, names)
  const query = new URLSearchParams(values).toString()
  const own = savedFilters(visit.request, visit.person.name).filter(
    (saved) => saved.list === list && saved.environment === visit.environment,
  )
  return {
    list,
    path,
    fields: fields.map((field) => ({ ...field, value: values[field.name] ?? '' })),
    query,
    saved: own.map((saved) => ({
      name: saved.name,
      href: visit.address(withQuery(path, saved.query)),
      isCurrent: saved.query === query,
    })),
  }
}

export type Filter = ReturnType<typeof filterOf>

/** A path with more behind its question mark. */
export const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`

export const choice = (name: string, choices: readonly string[]): FilterField => ({ name, kind: 'choice', choices })
export const textField = (name: string, placeholder = ''): FilterField => ({ name, kind: 'text', placeholder })
export const periodFields: readonly FilterField[] = [
  choice('period', namedPeriods),
  { name: 'firstDay', kind: 'day' },
  { name: 'lastDay', kind: 'day' },
]

/** How many operators are proposed while somebody fills in the field. */
const proposedMax = 200

/** The operator that a list is filtered by: people give its name or id. */
export async function operatorGiven({ person, query, environment }: Visit) {
  const { operator: name } = valuesOf({ query }, ['operator'])
  const [operator, { data }] = await Promise.all([
    name === undefined ? undefined : person.call(getOperator, { name: name.slice(0, 64) }).catch(unlessUnknown),
    // Without the gateway there are no proposals, and still the list.
    person.call(listOperators, { limit: proposedMax }).catch(whenAway({ data: [] })),
  ])
  const isUnknown = name !== undefined && operator === undefined
  const field: FilterField = { ...textField('operator'), choices: data.map((known) => known.name) }
  return {
    field: isUnknown ? { ...field, issue: 'error.OPERATOR_NOT_FOUND' } : field,
    operator,
    /** A brand is an operator in one environment. */
    brand: operator?.brands.find((one) => one.environment === environment),
    /** Nothing is found under what was given, so nothing belongs to it. */
    isUnknown,
  }
}

/** The provider that a list is filtered by, by its name or id. */
export async function providerGiven({ person, query }: Visit) {
  const { provider: name } = valuesOf({ query }, ['provider'])
  const provider =
    name === undefined ? undefined : await person.call(getProvider, { name: name.slice(0, 64) }).catch(unlessUnknown)
  return { id: provider?.id, isUnknown: name !== undefined && provider === undefined }
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof Rejection) || !/^(OPERATOR|PROVIDER)_NOT_FOUND$/.test(error.code)) throw error
}

const nameLengthMax = 40
const queryLengthMax = 400

/** What somebody calls the filter of a list. It is theirs alone, and stays in their browser. */
export const filterPages: Pages = (route) => {
  route.post('/filters/save', (visit) => {
    const { list, name, query, returnTo } = sent(visit)
    if (list === '' || name === '' || query === '') return back(visit, returnTo, 'filterNotSaved')
    const filter: SavedFilter = { environment: visit.environment, list, name, query }
    const kept = [...without(visit, filter), filter]
    return back(visit, returnTo, keepFilters(visit.request, visit.person.name, kept) ? 'filterSaved' : 'filterNoRoom')
  })
  route.post('/filters/delete', (visit) => {
    const { list, name, returnTo } = sent(visit)
    keepFilters(visit.request, visit.person.name, without(visit, { list, name }))
    return back(visit, returnTo, 'filterDeleted')
  })
}

function sent({ request }: Visit) {
  const { list = '', name = '', query = '', returnTo } = request.body as Readonly<Record<string, string | undefined>>
  return {
    list: String(list).slice(0, nameLengthMax),
    name: String(name).trim().slice(0, nameLengthMax),
    // It is read as the fields of the list and nothing else.
    query: new URLSearchParams(String(query)).toString().slice(0, queryLengthMax),
    returnTo: ownAddress(returnTo),
  }
}

const without = ({ request, person, environment }: Visit, { list, name }: Pick<SavedFilter, 'list' | 'name'>) =>
  savedFilters(request, person.name).filter(
    (saved) => saved.environment !== environment || saved.list !== list || saved.name !== name,
  )

function back({ request, reply, display }: Visit, address: string, word: Word) {
  const isDone = word === 'filterSaved' || word === 'filterDeleted'
  leaveNotice(request, { kind: isDone ? 'done' : 'waits', text: display.t(word) })
  return goTo(reply, address)
}

/** Longer than this, and whoever waits has reason to complain: the goal of each queue. */
export const lateAfterHours = 24

type FromHours = (typeof ageFromHours)[number]
const nextOf = (from: FromHours) => ageFromHours[ageFromHours.indexOf(from) + 1]

/** How long it is that something waits, in words. */
export function ageText({ t }: Pick<Display, 't'>, from: FromHours): string {
  const to = nextOf(from)
  if (to === undefined) return t('waitsLonger', { from })
  return from === 0 ? t('waitsUnder', { to }) : t('waitsBetween', { from, to })
}

/** What of a queue the address of its page asks for: what waits in one band of ages, or nothing of the kind. */
export function ageAsked({ query, now, display }: Pick<Visit, 'query' | 'now' | 'display'>) {
  const from = ageFromHours.find((hours) => String(hours) === query.age)
  if (from === undefined) return undefined
  const before = (hours: number) => new Date(now.getTime() - hours * hourMs).toISOString()
  const to = nextOf(from)
  return {
    query: `age=${from}`,
    remark: display.t('onlyOfAge', { age: ageText(display, from) }),
    period: { ...(to === undefined ? {} : { from: before(to) }), ...(from === 0 ? {} : { to: before(from) }) },
  }
}
