import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Environment } from '@backoffice/contracts'
import { exportSessionKey, importSessionKey, newSessionKey, type SessionKey } from '@backoffice/team-access/identity'
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
  /** A login that is under way. It replaces the session when it succeeds. */
  readonly attempt: Attempt
  /** The private key that this program reads with: a secret. */
  readonly delegate: JWK
  /** What lets it read for a person, as their browser has signed it. Until then nobody is signed in. */
  readonly delegation: string
  /** Where somebody goes who has just logged in. */
  readonly returnTo: string
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

/** Somebody whom the provider has confirmed, and the key of this program that they may let read for them. */
export interface LoggedIn {
  readonly idToken: string
  readonly delegate: SessionKey
}

/** Somebody who has let it. */
export interface SignedIn extends LoggedIn {
  readonly delegation: string
}

/**
 * A new session, with nothing of the one before it: not even its CSRF secret.
 * @throws {TokenTooLong}
 */
export async function logIn(request: FastifyRequest, idToken: string, returnTo: string): Promise<void> {
  const token = packToken(idToken)
  if (token.length > packedLengthMax) throw new TokenTooLong(`${idToken.length} characters, packed ${token.length}`)
  sessionOf(request).regenerate()
  sessionOf(request).set('delegate', await exportSessionKey(await newSessionKey()))
  sessionOf(request).set('returnTo', returnTo)
  request.tokenSession.regenerate()
  request.tokenSession.set('token', token)
}

/** Undefined: nobody has logged in, or they are signed in already. */
export async function loggedIn(
  request: FastifyRequest,
): Promise<(LoggedIn & { readonly returnTo: string }) | undefined> {
  const returnTo = sessionOf(request).get('returnTo')
  const session = returnTo === undefined ? undefined : await stored(request)
  return session && { ...session, returnTo: returnTo ?? '/' }
}

export function signIn(request: FastifyRequest, delegation: string): void {
  sessionOf(request).set('returnTo', undefined)
  sessionOf(request).set('delegation', delegation)
}

/** Undefined: nobody is signed in. */
export async function signedIn(request: FastifyRequest): Promise<SignedIn | undefined> {
  const delegation = sessionOf(request).get('delegation')
  const session = delegation === undefined ? undefined : await stored(request)
  return session && { ...session, delegation: delegation ?? '' }
}

async function stored(request: FastifyRequest): Promise<LoggedIn | undefined> {
  const delegate = sessionOf(request).get('delegate')
  const token = request.tokenSession.get('token')
  if (delegate === undefined || token === undefined) return undefined
  return { idToken: unpackToken(token), delegate: await importSessionKey(delegate) }
}

export function signOut(request: FastifyRequest): void {
  request.session.delete()
  request.tokenSession.delete()
}

interface Attempt extends LoginAttempt {
  readonly returnTo: string
}

export function storeAttempt(request: FastifyRequest, attempt: Attempt): void {
  sessionOf(request).set('attempt', attempt)
}

/** Each attempt is used once. */
export function takeAttempt(request: FastifyRequest): Attempt | undefined {
  const attempt = sessionOf(request).get('attempt')
  if (attempt !== undefined) sessionOf(request).set('attempt', undefined)
  return attempt
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
