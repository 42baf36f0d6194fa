import { BigNumber } from 'bignumber.js'

/** Matches an amount in a request: no sign, no leading zero, at most 13 integer digits and 2 decimals. Zero is refused apart. */
export const amountPattern = '^(0|[1-9]\\d{0,12})(\\.\\d{1,2})?$'
/** The same with a sign where money is taken; zero is refused apart. */
export const signedAmountPattern = `^-?${amountPattern.slice(1)}`
/** Matches money in a reply: exactly 2 decimals, and a sign where money leaves. */
export const moneyPattern = '^-?(0|[1-9]\\d*)\\.\\d{2}$'

const minorUnitsPerUnit = 100

/**
 * Reads a decimal string as minor units (centavos).
 * @throws {RangeError} when the string is not a decimal with at most 2 decimals
 */
export function toMinorUnits(decimal: string): bigint {
  if (!/^-?\d+(\.\d{1,2})?$/.test(decimal)) throw new RangeError(`not a money string: ${decimal}`)
  return BigInt(new BigNumber(decimal).times(minorUnitsPerUnit).toFixed(0))
}

/** Writes minor units (centavos) as a decimal string with exactly 2 decimals, for example -1250n as "-12.50". */
export function fromMinorUnits(minorUnits: bigint): string {
  // A page of a statement has a hundred of them, and a BigNumber takes 2 µs.
  const digits = String(minorUnits < 0n ? -minorUnits : minorUnits).padStart(3, '0')
  return `${minorUnits < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Whether a request's amount is well formed and over zero. */
export function isPositiveAmount(value: string): boolean {
  return new RegExp(amountPattern).test(value) && toMinorUnits(value) > 0n
}

/** Digits only, from 11 digits or 000.000.000-00; null for any other shape. */
export function cpfDigits(value: string): string | null {
  if (!/^(\d{11}|\d{3}\.\d{3}\.\d{3}-\d{2})$/.test(value)) return null
  return value.replaceAll(/[.-]/g, '')
}

/** Whether both check digits hold. The ten numbers of one repeated digit pass that sum, yet are never issued. */
export function isCpf(value: string): boolean {
  const digits = cpfDigits(value)
  if (digits === null || /^(\d)\1{10}$/.test(digits)) return false
  return cpfCheckDigit(digits, 9) === Number(digits[9]) && cpfCheckDigit(digits, 10) === Number(digits[10])
}

function cpfCheckDigit(digits: string, length: number): number {
  let sum = 0
  for (let i = 0; i < length; i++) sum += Number(digits[i]) * (length + 1 - i)
  return ((sum * 10) % 11) % 10
}

/** A real date of the proleptic Gregorian calendar, as YYYY-MM-DD. PostgreSQL knows no year 0. */
export function isCalendarDate(value: string): boolean {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const date = new Date(`${value}T00:00:00.000Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value)
}

/** A timestamp in the first 28 days of a month, which every month has. */
const plainTimestamp = /^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** ISO 8601 in UTC with milliseconds, as every reply writes it. */
export function isTimestamp(value: string): boolean {
  if (plainTimestamp.test(value)) return true
  // JavaScript has years that PostgreSQL has not.
  if (!/^(?!0000)\d{4}-/.test(value)) return false
  const date = new Date(value)
  return !Number.isNaN(date.getTime()) && date.toISOString() === value
}

const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const emailOf = (character: string) => {
  const label = `${character}(?:(?:${character}|-){0,61}${character})?`
  return new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})+$`, 'u')
}
const [asciiEmail, anyEmail] = [emailOf('[A-Za-z0-9]'), emailOf('[\\p{L}\\p{M}\\p{N}]')]

/**
 * An address as mail systems really accept it: a dot-atom of at most 64 characters, and a domain with a dot, which may be
 * an internationalised one.
 */
export function isEmail(value: string): boolean {
  const at = value.indexOf('@')
  if (at > 64 || !anyEmail.test(value)) return false
  if (asciiEmail.test(value)) return true
  // As the name servers know it.
  const domain = URL.parse(`http://${value.slice(at + 1)}`)?.hostname
  return domain !== undefined && asciiEmail.test(value.slice(0, at + 1) + domain)
}

/** Whether somebody sees a character of it: one that is no blank, no control, and not left out when it is shown. */
export const isVisible = (value: string): boolean =>
  /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(value)

/** ISO 4217's currencies with two decimals: all money here has two. */
const currencies = new Set(
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK
  DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD
  KZT LAK LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN
  QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU
  UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`.split(/\s+/),
)
export const isCurrency = (value: string): boolean => currencies.has(value)

/** The IANA name of a place or of UTC, as this process knows it. An offset or an abbreviation has no summer time. */
export function isTimeZone(value: string): boolean {
  if (!/^(UTC|[A-Z][A-Za-z_]*(\/[A-Z][A-Za-z0-9_+-]*)+)$/.test(value)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: value })
    return true
  } catch {
    return false
  }
}

interface Format {
  readonly has: (value: string) => boolean
  /** What a caller reads whose text does not have it; the schema compiler itself only says which format it was. */
  readonly message: string
}

/** By its name in a schema. */
export const formats: Readonly<Record<string, Format>> = {
  cpf: { has: isCpf, message: 'must be a valid CPF: 11 digits or 000.000.000-00, with correct check digits' },
  date: { has: isCalendarDate, message: 'must be a real calendar date as YYYY-MM-DD' },
  'date-time': { has: isTimestamp, message: 'must be ISO 8601 in UTC with milliseconds' },
  email: { has: isEmail, message: 'must be an e-mail address' },
  visible: { has: isVisible, message: 'must have a character that is seen' },
  currency: { has: isCurrency, message: 'must be the ISO 4217 code of a currency with 2 decimals' },
  'time-zone': { has: isTimeZone, message: 'must be the IANA name of a time zone, such as America/Sao_Paulo' },
  amount: {
    has: isPositiveAmount,
    message: 'must be a decimal string over zero, with at most 13 integer digits and 2 decimals',
  },
}

/** What shows nothing: control and invisible characters, blanks that are none of Unicode's, line separators, halves of pairs. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** Most text has nothing of all this. */
const plain = /^[ -~\u00a1-\u00ac\u00ae-\u024f]*$/

/** Scripts whose letters look alike. In one word only the letters of the first of them that it has are shown as they are. */
const alike = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic'].map((script) => ({
  script: new RegExp(`\\p{Script=${script}}`, 'u'),
  // Who writes Chinese, Japanese or Korean mixes them with Latin letters.
  others: new RegExp(
    `(?![\\p{Script_Extensions=${script}}${['Common', 'Inherited', 'Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo']
      .map((mixed) => `\\p{Script=${mixed}}`)
      .join('')}])\\p{L}`,
    'gu',
  ),
}))
/** A word as it is compared by sight: an address or a key is one, whatever its punctuation, and a value of JSON another. */
const word = /[^\s"'(),:;<>[\]{}]+/gu

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

function withMarkedLetters(text: string): string {
  const others = alike.find(({ script }) => script.test(text))?.others
  return others === undefined ? text : text.replace(others, escaped)
}

/**
 * Text as it may be shown to people. Operators, players and receivers of webhooks wrote parts of it: raw, it could move a
 * cursor, hide, reorder or join what stands beside it, or look like another text. What does not show by itself, or is of
 * another script than its word, is written as \u202e. Inside of JSON that is the same value.
 * @param kept characters that stay, such as line feeds
 */
export const visible = (text: string, kept = ''): string =>
  plain.test(text)
    ? text
    : text
        .replace(word, withMarkedLetters)
        .replace(unseen, (character) => (kept.includes(character) ? character : escaped(character)))

/**
 * Text in one form for all that people take for the same: without case and what does not show, in the compatible form of
 * each character, and with one blank for several.
 */
export const asSeen = (text: string): string =>
  text
    .replaceAll(unseen, '')
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll(/\s+/gu, ' ')
    .trim()

const brazilianPhone = /^(?:(?:\+|00)?55)?0?([1-9]\d(?:9\d{8}|[2-5]\d{7}))$/

/** The types of Pix keys, as the central bank's directory has them. */
export type PixKeyType = 'email' | 'cpf' | 'cnpj' | 'phone' | 'random'

/**
 * A Pix key in the form in which the central bank's directory has it: e-mail, CPF, CNPJ, phone in E.164 or a random key
 * (EVP, without its hyphens). Digits alone are a CPF where the check digits are right.
 * @param seen as `asSeen` makes it of a destination
 * @returns null when it is none of them
 */
export function pixKey(seen: string): { readonly type: PixKeyType; readonly key: string } | null {
  if (seen.includes('@')) return { type: 'email', key: seen.replaceAll(' ', '') }
  const bare = seen.replaceAll(/[^\p{L}\p{N}+]/gu, '')
  if (isCpf(bare)) return { type: 'cpf', key: bare }
  if (isCnpj(bare)) return { type: 'cnpj', key: bare }
  const [, national] = brazilianPhone.exec(bare) ?? []
  if (national !== undefined) return { type: 'phone', key: `+55${national}` }
  const [, international] = /^(?:\+|00)(\d{8,15})$/.exec(bare) ?? []
  if (international !== undefined) return { type: 'phone', key: `+${international}` }
  return /^[\da-f]{32}$/.test(bare) ? { type: 'random', key: bare } : null
}

/** Where a payment goes, as a batch of Pix transfers has it; undefined where it is no Pix key, or one that the batch has no room for. */
export function batchKeyOf({
  method,
  currency,
  destination,
}: {
  readonly method: string
  readonly currency: string
  readonly destination: string
}) {
  if (currency !== 'BRL' || !asSeen(method).includes('pix')) return undefined
  const seen = asSeen(destination)
  const found = pixKey(seen)
  if (found === null || !/^[!-~]{1,77}$/.test(found.key)) return undefined
  // Digits without a plus may be a CPF with a mistake in it as well, and somebody else's telephone would be paid.
  if (found.type === 'phone' && !seen.startsWith('+')) return undefined
  // And one of a hundred telephones has the check digits of a CPF: what is written otherwise than one may be none.
  if (found.type === 'cpf' && cpfDigits(seen) === null) return undefined
  // Whoever writes more than an address beside it has named no key.
  if (found.type === 'email' && !isEmail(seen)) return undefined
  // The number of a payee has digits alone.
  if (found.type === 'cnpj' && !/^\d{14}$/.test(found.key)) return undefined
  return found
}

/** A number of the register of companies. Since 2026 its first twelve places may be letters, each worth its ASCII code less 48. */
function isCnpj(bare: string): boolean {
  if (!/^[\da-z]{12}\d{2}$/.test(bare) || /^(\d)\1{13}$/.test(bare)) return false
  const values = [...bare.toUpperCase()].map((character) => character.charCodeAt(0) - 48)
  return [12, 13].every((place) => {
    const sum = values.slice(0, place).reduce((total, value, at) => total + value * (2 + ((place - 1 - at) % 8)), 0)
    return values[place] === (sum % 11 < 2 ? 0 : 11 - (sum % 11))
  })
}

/** What each id prefix stands for. Ids are opaque: nobody interprets or orders them. */
const idPrefixes = {
  op: 'operator',
  brd: 'brand',
  crd: 'credential',
  ply: 'player',
  kyc: 'KYC submission',
  ses: 'game session',
  prv: 'provider of games',
  rnd: 'round',
  pla: 'play: a bet, a win or a rollback',
  dep: 'deposit',
  wdr: 'withdrawal',
  led: 'ledger entry',
  trf: 'transfer',
  evt: 'event',
  dlv: 'webhook delivery',
  aud: 'audit entry',
  prp: 'proposal',
  pfl: 'file for the bank',
} as const
export type IdPrefix = keyof typeof idPrefixes
