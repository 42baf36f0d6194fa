import { P256Key } from '@backoffice/rpc/seal'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import {
  type CryptoKey,
  calculateJwkThumbprint,
  compactVerify,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose'

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

/** The public keys that sessions have: of the command line, and of browsers, all of which make P-256 keys. */
export const Ed25519Key = Type.Object({
  kty: Type.Literal('OKP'),
  crv: Type.Literal('Ed25519'),
  x: Type.String({ minLength: 1 }),
})
export type SessionJwk = Static<typeof Ed25519Key> | Static<typeof P256Key>

/** The key pair of one login. Its thumbprint is the `nonce` of the login, so that the ID token certifies the key. */
export interface SessionKey {
  readonly privateKey: CryptoKey
  readonly publicJwk: SessionJwk
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string
}

export async function newSessionKey(): Promise<SessionKey> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  return sessionKey(privateKey, await exportJWK(privateKey))
}

/** The private key as a JWK, for whoever keeps a session: it is a secret. */
export const exportSessionKey = ({ privateKey }: SessionKey): Promise<JWK> => exportJWK(privateKey)

/** @param jwk what `exportSessionKey` gave */
export async function importSessionKey(jwk: JWK): Promise<SessionKey> {
  return sessionKey((await importJWK(jwk, algorithmOf(publicKeyOf(jwk)))) as CryptoKey, jwk)
}

async function sessionKey(privateKey: CryptoKey, jwk: JWK): Promise<SessionKey> {
  const publicJwk = publicKeyOf(jwk)
  return { privateKey, publicJwk, thumbprint: await calculateJwkThumbprint(publicJwk) }
}

export const algorithmOf = ({ kty }: SessionJwk): 'EdDSA' | 'ES256' => (kty === 'EC' ? 'ES256' : 'EdDSA')

/** None with a shared secret. `Ed25519` is what RFC 9864 calls EdDSA with such a key. */
const acceptedAlgorithms = { OKP: ['EdDSA', 'Ed25519'], EC: ['ES256'] }

/** The public key alone, whatever else stands beside it. @throws {IdentityRefused} */
export function publicKeyOf(jwk: unknown): SessionJwk {
  if (Value.Check(Ed25519Key, jwk)) return { kty: jwk.kty, crv: jwk.crv, x: jwk.x }
  if (Value.Check(P256Key, jwk)) return { kty: jwk.kty, crv: jwk.crv, x: jwk.x, y: jwk.y }
  throw new IdentityRefused('signature', 'the key of a session is an Ed25519 or a P-256 key')
}

/** What a signature says about itself: its key, or the name of one, and the delegation that it rests on. */
export interface SignatureHeader {
  readonly jwk?: unknown
  readonly kid?: unknown
  readonly delegation?: unknown
}

/** @throws {IdentityRefused} */
export function headerOf(jws: unknown): SignatureHeader {
  try {
    return decodeProtectedHeader(jws as string)
  } catch (cause) {
    throw new IdentityRefused('signature', 'the signature cannot be read', { cause })
  }
}

/**
 * What a JWS says, signed with this key.
 * @param type of the JWS, so that a signature for one thing is never taken for one of another
 * @throws {IdentityRefused}
 */
export async function signedClaims<T extends TObject>(
  jws: string,
  key: SessionJwk,
  { type, schema }: { readonly type: string; readonly schema: T },
): Promise<Static<T>> {
  let claims: unknown
  try {
    const verified = await compactVerify(jws, await importJWK(key, algorithmOf(key)), {
      algorithms: acceptedAlgorithms[key.kty],
    })
    const { typ } = verified.protectedHeader
    if (typ !== type) throw new Error(`its type is ${typ}`)
    claims = JSON.parse(new TextDecoder().decode(verified.payload))
  } catch (cause) {
    throw new IdentityRefused('signature', 'the call is not signed with the key of the session', { cause })
  }
  if (!Value.Check(schema, claims)) throw new IdentityRefused('call', 'the signature is not for a call')
  return claims
}
