/** Why a call is nobody's. */
export type RefusalReason =
  | 'no proof'
  | 'not configured'
  | 'ID token'
  | 'logout token'
  | 'issuer'
  | 'audience'
  | 'session over'
  | 'nonce'
  | 'name'
  | 'signature'
  | 'call'
  | 'deployment'
  | 'delegation'
  | 'signed at another time'
  | 'machine'
  // Of what is verified later: see recorded-calls.ts.
  | 'key'
  | 'entry'
  | 'role'
  | 'two people'

export class IdentityRefused extends Error {
  override readonly name = 'IdentityRefused'
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}
