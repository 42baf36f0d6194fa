import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Environment } from '@backoffice/contracts'
import { exportSessionKey, importSessionKey, type SessionKey } from '@backoffice/team-identity'
import secureSession from '@fastify/secure-session'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { JWK } from 'jose'
import type { ConsoleSettings } from '../settings.ts'
import type { LoginAttempt } from './provider.ts'

/** Browsers keep 4,096 bytes of a cookie, with its name. Base64 of what is encrypted takes a third more than the text. */
const packedLengthMax = 2_900

/** What is said once, at the top of the next page. */
export interface Notice {
  readonly kind: 'done' | 'waits'
  readonly text: string
  /** Where to read on. */
  readonly href?: string
}

/** The filter of a list under a name that somebody gave it. */
export interface SavedFilter {
  readonly environment: Environment
  readonly list: string
  readonly name: string
  /** As part of an address. */
  readonly query: string
}

/** On a computer that several people use, each sees their own. */
interface StoredFilters {
  readonly saved: { readonly person: string; readonly filters: readonly SavedFilter[] }
}

/** What the cookies hold. They are encrypted, and only this program has the key. */
interface Stored {
  /** The private key of the session: a secret. */
  readonly key: JWK
  /** A login that is under way, with its own key. It replaces the session when it succeeds. */
  readonly attempt: LoginAttempt & { readonly key: JWK; readonly returnTo: string }
  readonly notice: Notice
  /** The ID token, packed. */
  readonly token: string
}
type Session = secureSession.Session<Stored>

declare module 'fastify' {
  interface FastifyRequest {
    /** A cookie of its own: both together would be too long for one. */
    tokenSession: Session
    filterSession: secureSession.Session<StoredFilters>
  }
}

/** Half a year. */
const filtersSeconds = 180 * 86_400

/** Encrypted cookies: for the session, for its ID token, and for saved filters. Nothing is stored on a server. */
export async function registerCookies(app: FastifyInstance, config: ConsoleSettings): Promise<void> {
  const key = config.CONSOLE_SESSION_KEYS.split(',').map((text) => Buffer.from(text, 'base64'))
  const expiry = config.TEAM_SESSION_HOURS * 3_600
  // With this prefix a browser takes the cookie over https only, and from no other host of the domain.
  const prefix = config.DEVELOPMENT ? '' : '__Host-'
  const cookie = () => ({ path: '/', httpOnly: true, sameSite: 'lax' as const, secure: !config.DEVELOPMENT })
  await app.register(secureSession, [
    { sessionName: 'session', cookieName: `${prefix}console`, key, expiry, cookie: cookie() },
    { sessionName: 'tokenSession', cookieName: `${prefix}console-token`, key, expiry, cookie: cookie() },
    {
      sessionName: 'filterSession',
      cookieName: `${prefix}console-filters`,
      key,
      expiry: filtersSeconds,
      cookie: { ...cookie(), maxAge: filtersSeconds },
    },
  ])
}

const sessionOf = (request: FastifyRequest) => request.session as Session

/** The ID token does not fit into a cookie. */
export class TokenTooLong extends Error {
  override readonly name = 'TokenTooLong'
}

/** What somebody who is signed in has. */
export interface SignedIn {
  readonly idToken: string
  readonly key: SessionKey
}

/**
 * A new session, with nothing of the one before it: not even its CSRF secret.
 * @throws {TokenTooLong}
 */
export function signIn(request: FastifyRequest, idToken: string, key: JWK): void {
  const token = packToken(idToken)
  if (token.length > packedLengthMax) throw new TokenTooLong(`${idToken.length} characters, packed ${token.length}`)
  sessionOf(request).regenerate()
  sessionOf(request).set('key', key)
  request.tokenSession.regenerate()
  request.tokenSession.set('token', token)
}

/** Undefined: nobody is signed in. */
export async function signedIn(request: FastifyRequest): Promise<SignedIn | undefined> {
  const key = sessionOf(request).get('key')
  const token = request.tokenSession.get('token')
  if (key === undefined || token === undefined) return undefined
  return { idToken: unpackToken(token), key: await importSessionKey(key) }
}

export function signOut(request: FastifyRequest): void {
  request.session.delete()
  request.tokenSession.delete()
}

interface Attempt extends LoginAttempt {
  readonly key: SessionKey
  readonly returnTo: string
}

/** As it was stored. A key that was read again cannot be written out, so its text goes with it. */
interface TakenAttempt extends Attempt {
  readonly jwk: JWK
}

export async function storeAttempt(request: FastifyRequest, { key, ...attempt }: Attempt): Promise<void> {
  sessionOf(request).set('attempt', { ...attempt, key: await exportSessionKey(key) })
}

/** Each attempt is used once. */
export async function takeAttempt(request: FastifyRequest): Promise<TakenAttempt | undefined> {
  const stored = sessionOf(request).get('attempt')
  if (stored === undefined) return undefined
  sessionOf(request).set('attempt', undefined)
  return { ...stored, jwk: stored.key, key: await importSessionKey(stored.key) }
}

export function leaveNotice(request: FastifyRequest, notice: Notice): void {
  sessionOf(request).set('notice', notice)
}

export function takeNotice(request: FastifyRequest): Notice | undefined {
  const notice = sessionOf(request).get('notice')
  if (notice !== undefined) sessionOf(request).set('notice', undefined)
  return notice
}

/** The filters that this person has saved in this browser, of all lists and both environments. */
export function savedFilters(request: FastifyRequest, person: string): readonly SavedFilter[] {
  const saved = request.filterSession.get('saved')
  return saved?.person === person ? saved.filters : []
}

/** @returns whether there is room for them */
export function keepFilters(request: FastifyRequest, person: string, filters: readonly SavedFilter[]): boolean {
  const saved = { person, filters }
  if (Buffer.byteLength(JSON.stringify(saved)) > packedLengthMax) return false
  request.filterSession.set('saved', saved)
  return true
}

/** More than any ID token that the services take (8 KiB), so that a cookie cannot unfold into much memory. */
const unpackedBytesMax = 16_384

/**
 * An ID token in fewer characters, for a cookie: browsers drop cookies of more than 4 KiB. Base64 hides from the
 * compression that the token is JSON, so its parts are taken out of it first.
 * @throws Error when the token is not written as RFC 7515 says, so that unpacking it would give another one
 */
export function packToken(token: string): string {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const text = deflateRawSync(JSON.stringify([header, payload].map(fromBase64)), { level: 9 }).toString('base64url')
  const packed = `${text}.${signature}`
  if (unpackToken(packed) !== token) throw new Error('the ID token is not in the compact form of a JWS')
  return packed
}

export function unpackToken(packed: string): string {
  const [text = '', signature = ''] = packed.split('.')
  const json = inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: unpackedBytesMax }).toString()
  const parts = (JSON.parse(json) as readonly string[]).map((part) => Buffer.from(part).toString('base64url'))
  return [...parts, signature].join('.')
}

const fromBase64 = (part: string): string => Buffer.from(part, 'base64url').toString()
