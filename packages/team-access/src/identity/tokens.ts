import { decodeJwt, jwtVerify } from 'jose'
import { type IssuerKeys, KeysUnavailable } from './issuer-keys.ts'
import { clockToleranceMs, proofAgeMsMax } from './proof.ts'
import { IdentityRefused } from './session-key.ts'

/**
 * What the provider certifies of a session: the thumbprint of its key, and how many hours it lives where that is fewer than
 * it might. Nobody else can change it, whoever has the key.
 */
export const nonceOf = (thumbprint: string, hours?: number): string =>
  hours === undefined ? thumbprint : `${hours}h.${thumbprint}`

export function readNonce(
  nonce: string,
  sessionHours: number,
): { readonly thumbprint: string; readonly hours: number } {
  const [, hours = sessionHours, thumbprint = nonce] = /^(\d{1,2})h\.(.*)$/.exec(nonce) ?? []
  return { thumbprint, hours: Math.min(Number(hours), sessionHours) }
}

/** What an ID token that was verified before says about its session. @param sessionHours how long one lives at most */
export function sessionIn(
  idToken: string,
  sessionHours: number,
): {
  readonly thumbprint: string
  readonly issuedAt: Date
  readonly endsAt: Date
  readonly providerSession: string | undefined
  /** The client at the provider that asked for it. */
  readonly client: string
} {
  const { iat = 0, azp, aud, nonce, sid } = decodeJwt(idToken)
  const { thumbprint, hours } = readNonce(String(nonce), sessionHours)
  return {
    thumbprint,
    issuedAt: new Date(iat * 1_000),
    endsAt: new Date((iat + hours * 3_600) * 1_000),
    providerSession: typeof sid === 'string' ? sid : undefined,
    client: String(azp ?? aud),
  }
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/** Whom the provider has logged out. */
export interface LoggedOut {
  /** Undefined: whoever has the session. */
  readonly subject: string | undefined
  /** The provider's name of the session; undefined: all of the person's. */
  readonly providerSession: string | undefined
  readonly at: Date
}

interface Expected {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly keys: IssuerKeys
  readonly algorithms: readonly string[]
}

/**
 * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0). It ends what was begun before it was issued, so a
 * second copy does nothing, and nobody has to remember its `jti`.
 * @throws {IdentityRefused}
 * @throws {KeysUnavailable}
 */
export async function verifyLogoutToken(
  token: string,
  { issuer, audiences, keys, algorithms }: Expected,
  now: Date,
): Promise<LoggedOut> {
  const { payload, protectedHeader } = await jwtVerify(token, keys.find, {
    algorithms: [...algorithms],
    issuer,
    audience: [...audiences],
    currentDate: now,
    clockTolerance: clockToleranceMs / 1_000,
    maxTokenAge: proofAgeMsMax / 1_000,
    requiredClaims: ['jti', 'events'],
  }).catch((cause) => {
    if (cause instanceof KeysUnavailable) throw cause
    throw new IdentityRefused('logout token', 'the logout token is not of the identity provider, or not for now', {
      cause,
    })
  })
  const { typ = 'JWT' } = protectedHeader
  const { events, iat = 0, sid, sub } = payload
  const isLogout = typeof events === 'object' && events !== null && typeof (events as Claims)[logoutEvent] === 'object'
  // An ID token has a nonce, and must never be taken for one of these.
  if (!isLogout || 'nonce' in payload || !['JWT', 'logout+jwt'].includes(typ))
    throw new IdentityRefused('logout token', 'the token is for something else than a logout')
  if (sid !== undefined && (typeof sid !== 'string' || sid === ''))
    throw new IdentityRefused('logout token', 'the sid of the logout token is no text')
  if (sub === '' || (sub === undefined && sid === undefined))
    throw new IdentityRefused('logout token', 'the logout token says neither who nor which session')
  return { subject: sub, providerSession: sid, at: new Date(iat * 1_000) }
}

type Claims = Readonly<Record<string, unknown>>
