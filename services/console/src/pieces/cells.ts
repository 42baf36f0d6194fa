import { choicesOf, defined, type FieldSchema, isId, moneyPattern, valueSchema } from '@backoffice/contracts'
import { dateFormat, numberFormat, relativeFormat } from '@backoffice/process'
import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { isLanguage, type Language, languageOf, sentenceIn, textIn, type Word } from '../words/index.ts'
import type { Chart } from './chart.ts'

/** One value as a page shows it. */
export type Cell =
  | {
      readonly kind: 'text' | 'number' | 'id' | 'code' | 'status' | 'time' | 'moment'
      readonly text: string
    }
  | { readonly kind: 'folded'; readonly text: string; readonly label?: string }
  | { readonly kind: 'ago'; readonly text: string; readonly hours: readonly [ageing: number, late: number] }
  | { readonly kind: 'money'; readonly text: string; readonly currency: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string; readonly isElsewhere?: true }
  | { readonly kind: 'lines' | 'words'; readonly lines: readonly Cell[] }
  | { readonly kind: 'chart'; readonly chart: Chart }
  | { readonly kind: 'nothing' }

export interface Fact {
  /** Names the field in the catalogue of words. */
  readonly field: string
  readonly cell: Cell
}

/** A row of a table, and the page that it opens. */
export interface Row {
  readonly href?: string
  /** Its id, where several rows are chosen. */
  readonly choice?: string | undefined
  readonly cells: readonly Fact[]
}

/** A field under its own name, or a name and what stands there. */
export type ShownColumn<Row> = (keyof Row & string) | readonly [field: string, show: (row: Row) => Cell]

export const nothing: Cell = { kind: 'nothing' }
/** A number stands on the right of its column. */
export const text = (value: unknown): Cell =>
  value === null || value === undefined || value === ''
    ? nothing
    : { kind: typeof value === 'number' ? 'number' : 'text', text: String(value) }
export const id = (value: string): Cell => ({ kind: 'id', text: value })
/** Whether a text is an id, which is written like other ids. */
export const isIdText = (text: string): boolean => /^[a-z]{2,4}_[0-9a-z]{26}$/.test(text)
export const time = (value: string): Cell => ({ kind: 'time', text: value })
/** To the second, also in a list. */
export const moment = (value: string): Cell => ({ kind: 'moment', text: value })
/** After how many hours it is coloured as ageing, and as late. */
export const ago = (value: string, hours: readonly [ageing: number, late: number] = [4, 24]): Cell => ({
  kind: 'ago',
  text: value,
  hours,
})
/** Long: it is shown when it is asked for. */
export const folded = (value: string, label?: string): Cell => ({
  kind: 'folded',
  text: value,
  ...defined({ label }),
})
export const status = (value: string): Cell => ({ kind: 'status', text: value })
/** A status where it is another one than nearly every row of a list has. */
export const unusual = (value: string, usual: string): Cell => (value === usual ? nothing : status(value))
export const link = (value: string, href: string): Cell => ({ kind: 'link', text: value, href })
/** To a page of somebody else. An address that is none of the web is shown and leads nowhere. */
export const linkElsewhere = (value: string, href: string): Cell =>
  /^https?:\/\//.test(href) ? { kind: 'link', text: value, href, isElsewhere: true } : text(value)
export const money = (amount: string, currency: string): Cell => ({ kind: 'money', text: amount, currency })
export function lines(...cells: readonly Cell[]): Cell {
  const shown = cells.filter(({ kind }) => kind !== 'nothing')
  return shown.length === 0 ? nothing : { kind: 'lines', lines: shown }
}

/** Several beside each other. */
export const words = (...cells: readonly Cell[]): Cell =>
  cells.length === 0 ? nothing : { kind: 'words', lines: cells }

/** What the rows of a list are: the elements of `data` in its reply. */
export const rowSchema = (reply: TSchema): TSchema =>
  ((reply as FieldSchema).properties?.data?.items as TSchema | undefined) ?? reply

/** Fields of a record as cells. The schema of the operation's reply says what each one is: a time, an amount, a status, an id. */
export function factsOf<Row extends object>(
  schema: TSchema,
  row: Row,
  shown: readonly ShownColumn<Row>[],
): readonly Fact[] {
  return shown.map((entry) =>
    typeof entry === 'string'
      ? { field: entry, cell: cellOf(schema, row, entry) }
      : { field: entry[0], cell: entry[1](row) },
  )
}

/** Rows of a list, each with the page that it opens. */
export const rowsOf = <Listed extends object>(
  reply: TSchema,
  listed: readonly Listed[],
  shown: readonly ShownColumn<Listed>[],
  hrefOf?: (row: Listed) => string,
): readonly Row[] =>
  listed.map((row) => ({ ...defined({ href: hrefOf?.(row) }), cells: factsOf(rowSchema(reply), row, shown) }))

/** A row whose cells are made by hand, by the names of their fields. */
export const rowWith = (cells: Readonly<Record<string, Cell>>): Row => ({
  cells: Object.entries(cells).map(([field, cell]) => ({ field, cell })),
})

export function cellOf(schema: TSchema, row: object, field: string): Cell {
  const value = (row as Readonly<Record<string, unknown>>)[field]
  if (value === null || value === undefined || value === '') return nothing
  const known = valueSchema((schema as FieldSchema).properties?.[field] ?? {})
  if (known.format === 'date-time') return { kind: 'time', text: String(value) }
  if (known.pattern === moneyPattern)
    return money(String(value), (row as { readonly currency?: string }).currency ?? '')
  if (choicesOf(known).length > 0) return status(String(value))
  if (isId(known)) return id(String(value))
  if (Array.isArray(value)) return value.length === 0 ? nothing : lines(...value.map(text))
  return typeof value === 'object' ? { kind: 'code', text: JSON.stringify(value) } : text(value)
}

/** Of English, the form that the rest of the world reads: day before month. */
const formats: Readonly<Record<Language, string>> = { 'pt-BR': 'pt-BR', en: 'en-GB' }

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const hours = { hour: '2-digit', minute: '2-digit' } as const
const daysAndHours = { day: 'numeric', month: 'short', ...hours } as const
const days = { day: 'numeric', month: 'short', year: 'numeric' } as const

const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

function timesIn(locale: string, timeZone: string, now: number) {
  const local = dateFormat(locale, { dateStyle: 'short', timeStyle: 'short', timeZone })
  const exact = dateFormat(locale, { dateStyle: 'short', timeStyle: 'medium', timeZone })
  const sortable = dateFormat('sv', { dateStyle: 'short', timeZone })
  const zoned = dateFormat('en', { timeZone, timeZoneName: 'shortOffset' })
  const offset = (time: string | number): string =>
    zoned.formatToParts(new Date(time)).find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
  return {
    /** How far the zone is from UTC at a time. */
    offset,
    /** In the zone, which it names. */
    time: (iso: string): string => `${local.format(new Date(iso))} ${offset(iso)}`,
    /** The same with its seconds. */
    moment: (iso: string): string => `${exact.format(new Date(iso))} ${offset(iso)}`,
    /** As short as it can be in a list: the time of today, the day before it. Its page names the zone. */
    shortTime(iso: string, withSeconds = false): string {
      const [day, today] = [new Date(iso), new Date(now)].map((one) => sortable.format(one))
      const options = day === today ? hours : day?.slice(0, 4) === today?.slice(0, 4) ? daysAndHours : days
      // Of money each second is asked about, also of a year before.
      const more = withSeconds ? { ...hours, second: '2-digit' as const } : {}
      return dateFormat(locale, { ...options, ...more, timeZone }).format(new Date(iso))
    },
    /** A day of a field in words: browsers write the field itself in an order of their own. Empty for what is no day. */
    dayInWords(day: string): string {
      const noon = new Date(`${day}T12:00:00Z`)
      const options = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const
      return Number.isNaN(noon.getTime()) ? '' : dateFormat(locale, options).format(noon)
    },
  }
}

const percentage = { style: 'percent', maximumFractionDigits: 1 } as const

/** How a person sees things: their language, their zone, their colours. */
export function displayOf(request: FastifyRequest, { clock, config }: ConsoleContext) {
  const language = languageOf(request.cookies.language, request.headers['accept-language'])
  const { theme, density, times, rows } = request.cookies
  const timeZone = config.CONSOLE_TIME_ZONE
  const relative = relativeFormat(language, { numeric: 'always' })
  const rightNow = relativeFormat(language, { numeric: 'auto' }).format(0, 'second')
  const now = clock.now().getTime()
  return {
    language,
    /** In which amounts and times are written. */
    format: formats[language],
    theme: themes.find((known) => known === theme) ?? 'system',
    density: densities.find((known) => known === density) ?? 'comfortable',
    times: precisions.find((known) => known === times) ?? 'short',
    /** How many rows a page of a list has. */
    rowsEach: Number(pageSizes.find((known) => known === rows) ?? '50'),
    /** A text of the catalogue. `{name}` in it is replaced. */
    t: (word: Word, { service, ...values }: Readonly<Record<string, string | number>> = {}): string =>
      filled(
        textIn(language, word) ?? word,
        // By what it does: nobody outside of the team that runs it knows a service.
        service === undefined ? values : { ...values, service: textIn(language, `service.${service}`) ?? service },
      ),
    /** A status, a field, an error code as a text, in the gender of what it is said `of`; itself where the catalogue has none. */
    word: (kind: 'field' | 'value' | 'error' | 'operation' | 'check' | 'service', name: string, of = ''): string =>
      textIn(language, `${kind}.${of}.${name}`) ?? textIn(language, `${kind}.${name}`) ?? name,
    /** What it means that a field has no value. */
    none: (field: string): string => textIn(language, `none.${field}`) ?? '–',
    /** The first of these texts that the catalogue has; empty where it has none. */
    first: (names: readonly string[], values: Readonly<Record<string, string | number>> = {}): string =>
      filled(names.flatMap((name) => textIn(language, name) ?? [])[0] ?? '', values),
    /** Of which any is enough. */
    anyOf: (names: readonly string[]): string => new Intl.ListFormat(language, { type: 'disjunction' }).format(names),
    /** A sentence of a service or of a schema, in English there; itself where the catalogue has none. */
    sentence: (text: string): string => filled(sentenceIn(language, text), { timeZone }),
    // As text: a number would round large amounts.
    number: (value: string): string => numberFormat(formats[language], {}).format(value as `${number}`),
    money: (amount: string, currency: string): string =>
      numberFormat(formats[language], { style: 'currency', currency }).format(amount as `${number}`),
    percent: (part: number, whole: number, roundingMode: 'floor' | 'ceil'): string =>
      numberFormat(formats[language], { ...percentage, roundingMode }).format(part / whole),
    timeZone,
    ...timesIn(formats[language], timeZone, now),
    utc: (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`,
    /** How long ago, in its largest unit. */
    ago(iso: string): string {
      const ms = Math.max(now - Date.parse(iso), 0)
      const unit = units.find(([, least]) => ms >= least)
      return unit === undefined ? rightNow : relative.format(-Math.floor(ms / unit[1]), unit[0])
    },
    hoursSince: (iso: string): number => (now - Date.parse(iso)) / 3_600_000,
  }
}
export type Display = ReturnType<typeof displayOf>

/** A year. */
const maxAge = 365 * 86_400
const themes = ['system', 'light', 'dark'] as const
const densities = ['comfortable', 'compact'] as const
const precisions = ['short', 'exact'] as const
export const pageSizes = ['25', '50', '100'] as const

/** What somebody chose: the language, the colours, how dense and long lists are. That is no secret, so it stands in plain cookies. */
export function registerPreferences(app: FastifyInstance, { config }: ConsoleContext): void {
  const choices = { theme: themes, density: densities, times: precisions, rows: pageSizes }
  type Body = Readonly<Partial<Record<keyof typeof choices | 'language' | 'returnTo', string>>>
  app.post<{ Body: Body }>('/preferences', { preHandler: app.csrfProtection }, (request, reply) => {
    const { language, returnTo, ...others } = request.body
    const options = { path: '/', maxAge, sameSite: 'lax', httpOnly: true, secure: !config.DEVELOPMENT } as const
    if (isLanguage(language)) reply.setCookie('language', language, options)
    for (const [name, known] of Object.entries<readonly string[]>(choices)) {
      const chosen = others[name as keyof typeof choices]
      if (chosen !== undefined && known.includes(chosen)) reply.setCookie(name, chosen, options)
    }
    return goTo(reply, ownAddress(returnTo))
  })
}

/** Sends the browser to another page. htmx is told by a header: it would follow a redirect to another origin in vain. */
export function goTo(reply: FastifyReply, address: string): FastifyReply {
  if (reply.request.headers['hx-request'] === 'true') return reply.code(200).header('HX-Redirect', address).send('')
  return reply.redirect(address, 303)
}

/** The page that somebody is on, also when they send a form of it with htmx; the first one where nobody says. */
export function pageAddress({ method, url, headers }: FastifyRequest): string {
  if (method === 'GET') return ownAddress(url)
  const page = URL.parse(String(headers['hx-current-url'] ?? ''))
  return ownAddress(page === null ? '/' : `${page.pathname}${page.search}`)
}

/** An address of this console, and of nowhere else, whatever a link says. */
export function ownAddress(address: unknown): string {
  if (typeof address !== 'string' || !/^\/(?![/\\])[\w\-./?=&%~:+]*$/.test(address)) return '/'
  return address
}
