import { decodeJwt } from 'jose'

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
