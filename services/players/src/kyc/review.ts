// Rules.

import { createHmac } from 'node:crypto'
import { caseTakenMinutes, Rejection } from '@backoffice/contracts'

/** Where the documents of an operator open. */
export interface DocumentSource {
  /** A URL with `{reference}` in it. */
  readonly template: string
  /** Signs the links. */
  readonly key: string
  /** When the template was last changed. */
  readonly changedAt: Date | null
}

const placeholder = '{reference}'
/** Long enough to open what a list shows, and short for a link that is passed on. */
const linkMs = 15 * 60_000

/**
 * What is wrong with a template, in words; null when nothing is. Nothing is fetched from it: a reviewer's browser opens
 * the links.
 * @param allowLoopback for development alone: `http://localhost` and `http://127.0.0.1` with any port
 */
export function faultOfTemplate(template: string, allowLoopback = false): string | null {
  if (template.split(placeholder).length !== 2) return `must have ${placeholder} once`
  const filled = template.replace(placeholder, 'x')
  const url = URL.parse(filled)
  if (url === null) return 'must be a URL'
  const isOwnMachine = allowLoopback && ['localhost', '127.0.0.1'].includes(url.hostname)
  if (url.protocol !== 'https:' && !(isOwnMachine && url.protocol === 'http:')) return 'must use https'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or a password'
  if (url.hash !== '' || template.includes('#')) return 'must not have a fragment'
  if (!isOwnMachine && (isAddress(url.hostname) || /^([^.]+\.)*localhost\.?$/.test(url.hostname)))
    return 'must name a public host'
  // The operator compares the signature with what it gets, so a browser must send what was signed.
  if (url.href !== filled) return `must be written as browsers send it: ${url.href.slice(0, 200)}`
  if (!isAfterHost(template, url)) return `must have ${placeholder} in the path or the query`
  if (['expires', 'signature'].some((name) => url.searchParams.has(name)))
    return 'must leave the parameters expires and signature to the link'
  return null
}

const isAddress = (hostname: string): boolean => hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname)

const isAfterHost = (template: string, { origin }: URL): boolean => template.startsWith(`${origin}/`)

/**
 * Where a document opens: the template with the reference, the time at which the link ends (epoch seconds), and a signature
 * over both. Null for a reference that a browser would change on the way, such as `..` as a folder.
 */
export function documentLink(
  { template, key }: Pick<DocumentSource, 'template' | 'key'>,
  reference: string,
  now: Date,
): string | null {
  const filled = template.replace(placeholder, () => encoded(reference))
  const expires = Math.floor((now.getTime() + linkMs) / 1_000)
  const url = URL.parse(`${filled}${filled.includes('?') ? '&' : '?'}expires=${expires}`)
  if (url === null || !url.href.startsWith(filled)) return null
  return `${url.href}&signature=${signatureOf(key, `${url.pathname}${url.search}`)}`
}

/** Lowercase hex HMAC-SHA-256 over path and query as they are sent, without the signature itself. */
const signatureOf = (key: string, pathAndQuery: string): string =>
  createHmac('sha256', key).update(pathAndQuery).digest('hex')

/** Also what `encodeURIComponent` leaves as it is and URL parsers do not. */
const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** An identity check that somebody of the team works on, so that nobody else does the same. */
export interface TakenCase {
  readonly playerId: string
  readonly takenBy: string
  readonly takenAt: Date
}

/** It ends by itself: people forget to give a case back. */
export const takenUntil = ({ takenAt }: Pick<TakenCase, 'takenAt'>): Date =>
  new Date(takenAt.getTime() + caseTakenMinutes * 60_000)

/** The case, as long as it counts as taken. */
export const takenNow = (taken: TakenCase | undefined, now: Date): TakenCase | undefined =>
  taken !== undefined && takenUntil(taken) > now ? taken : undefined

/** @throws {Rejection} KYC_TAKEN when somebody else has the case */
export function assertNotTakenByOther(taken: TakenCase | undefined, person: string, now: Date): void {
  const current = takenNow(taken, now)
  if (current === undefined || current.takenBy === person) return
  const { playerId, takenBy } = current
  throw new Rejection('KYC_TAKEN', { playerId, takenBy, until: takenUntil(current).toISOString() })
}
