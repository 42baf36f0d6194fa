import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { isLanguage, type Language, languageOf, sentenceIn, type Word, type Words, wordsIn } from '../words/index.ts'
import { goTo, ownAddress } from './go-to.ts'

/** How a person sees things: their language, their zone, their colours. */
export interface Display {
  readonly language: Language
  readonly theme: string
  /** A text of the catalogue. `{name}` in it is replaced. */
  readonly t: (word: Word, values?: Readonly<Record<string, string | number>>) => string
  /** A status, a field, an error code as a text; itself where the catalogue has none. */
  readonly word: (kind: 'field' | 'value' | 'error' | 'help' | 'operation' | 'check', name: string) => string
  /** A sentence of a service, which is in English; itself where the catalogue has none. */
  readonly sentence: (text: string) => string
  readonly money: (amount: string, currency: string) => string
  /** The zone of the settings. */
  readonly timeZone: string
  /** In that zone. */
  readonly time: (iso: string) => string
  readonly utc: (iso: string) => string
  /** What somebody filled in as a time of that zone; undefined where it is none. */
  readonly isoOf: (local: string) => string | undefined
  /** How long ago, in its largest unit. */
  readonly ago: (iso: string) => string
  readonly hoursSince: (iso: string) => number
}

/** Of English, the form that the rest of the world reads: day before month. */
const formats: Readonly<Record<Language, string>> = { 'pt-BR': 'pt-BR', en: 'en-GB' }

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

export function displayOf(request: FastifyRequest, { clock, config }: ConsoleContext): Display {
  const language = languageOf(request.cookies.language, request.headers['accept-language'])
  const chosen = request.cookies.theme
  const words: Words = wordsIn(language)
  const zoned = (timeZone: string) =>
    new Intl.DateTimeFormat(formats[language], { dateStyle: 'short', timeStyle: 'short', timeZone })
  const local = zoned(config.CONSOLE_TIME_ZONE)
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'always' })
  const rightNow = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(0, 'second')
  const now = clock.now().getTime()
  const t: Display['t'] = (word, values = {}) =>
    words[word].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
  return {
    language,
    theme: themes.some((known) => known === chosen) ? (chosen ?? 'system') : 'system',
    t,
    word: (kind, name) => (words as Readonly<Record<string, string>>)[`${kind}.${name}`] ?? name,
    sentence: (text) => sentenceIn(language, text),
    // As text: a number would round large amounts.
    money: (amount, currency) =>
      new Intl.NumberFormat(formats[language], { style: 'currency', currency }).format(amount as `${number}`),
    timeZone: config.CONSOLE_TIME_ZONE,
    time: (iso) => local.format(new Date(iso)),
    isoOf: (text) => isoOf(text, config.CONSOLE_TIME_ZONE),
    utc: (iso) => `${iso.slice(0, 19).replace('T', ' ')} UTC`,
    ago(iso) {
      const ms = Math.max(now - Date.parse(iso), 0)
      const unit = units.find(([, least]) => ms >= least)
      return unit === undefined ? rightNow : relative.format(-Math.floor(ms / unit[1]), unit[0])
    },
    hoursSince: (iso) => (now - Date.parse(iso)) / 3_600_000,
  }
}

/** A time as browsers send it from a form, such as 2026-11-22T09:30, as it is in a zone. */
export function isoOf(local: string, timeZone: string): string | undefined {
  const wanted = Date.parse(`${local}Z`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(local) || Number.isNaN(wanted)) return undefined
  // What a clock there shows at a moment, as if it were UTC. In Swedish a date is written like in ISO 8601.
  const clock = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium', timeZone })
  const shownAt = (ms: number) => Date.parse(`${clock.format(ms).replace(' ', 'T')}Z`)
  const guess = wanted - (shownAt(wanted) - wanted)
  // Once more, since the clocks may change in between.
  return new Date(guess - (shownAt(guess) - wanted)).toISOString()
}

/** A year. */
const maxAge = 365 * 86_400
const themes = ['system', 'light', 'dark'] as const

/** The language and the colours that somebody chose. They are no secret, so they stand in plain cookies. */
export function registerPreferences(app: FastifyInstance, { config }: ConsoleContext): void {
  interface Body {
    readonly language?: string
    readonly theme?: string
    readonly returnTo?: string
  }
  app.post<{ Body: Body }>('/preferences', { preHandler: app.csrfProtection }, (request, reply) => {
    const { language, theme, returnTo } = request.body
    const options = { path: '/', maxAge, sameSite: 'lax', httpOnly: true, secure: !config.DEVELOPMENT } as const
    if (isLanguage(language)) reply.setCookie('language', language, options)
    if (themes.some((known) => known === theme)) reply.setCookie('theme', theme ?? '', options)
    return goTo(reply, ownAddress(returnTo))
  })
}
