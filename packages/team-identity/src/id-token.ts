import { decodeJwt } from 'jose'

/** What an ID token that was verified before says about its session. */
export function sessionIn(idToken: string): {
  readonly issuedAt: Date
  readonly providerSession: string | undefined
  /** The client at the provider that asked for it. */
  readonly client: string
} {
  const { iat = 0, azp, aud, sid } = decodeJwt(idToken)
  return {
    issuedAt: new Date(iat * 1_000),
    providerSession: typeof sid === 'string' ? sid : undefined,
    client: String(azp ?? aud),
  }
}
