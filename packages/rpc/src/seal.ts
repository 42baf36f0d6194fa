import type { ReplyKey } from '@backoffice/contracts'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { CompactEncrypt, type CryptoKey, compactDecrypt, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'

// Replies that only one key opens.

export const P256Key = Type.Object({
  kty: Type.Literal('EC'),
  crv: Type.Literal('P-256'),
  x: Type.String({ minLength: 1 }),
  y: Type.String({ minLength: 1 }),
})

const protectedHeader = { alg: 'ECDH-ES', enc: 'A256GCM' } as const

/** What stands in the place of a reply that is sealed. */
interface SealedReply {
  /** A JWE in its compact form. */
  readonly sealed: string
}

/** A key for one reply. */
export interface ReplyKeyPair {
  readonly sealTo: ReplyKey
  /** @throws Error when the reply is sealed to another key, or to none */
  open(body: unknown): Promise<unknown>
}

/** The private half does not leave this process, and is forgotten with the reply. */
export async function newReplyKey(): Promise<ReplyKeyPair> {
  const { publicKey, privateKey } = await generateKeyPair(protectedHeader.alg, { crv: 'P-256' })
  return pairOf(privateKey, await exportJWK(publicKey))
}

/**
 * @param jwk the private half, from whoever has signed the call
 * @throws Error when it is none
 */
export async function importReplyKey(jwk: JWK): Promise<ReplyKeyPair> {
  const key = await importJWK(jwk, protectedHeader.alg)
  if (key instanceof Uint8Array || key.type !== 'private') throw new Error('it is no private key')
  return pairOf(key, jwk)
}

const pairOf = (privateKey: CryptoKey, { x = '', y = '' }: JWK): ReplyKeyPair => ({
  sealTo: { kty: 'EC', crv: 'P-256', x, y },
  async open(body) {
    const { sealed } = body as SealedReply
    const { plaintext } = await compactDecrypt(sealed, privateKey, {
      keyManagementAlgorithms: [protectedHeader.alg],
      contentEncryptionAlgorithms: [protectedHeader.enc],
    })
    return JSON.parse(new TextDecoder().decode(plaintext))
  },
})

/**
 * Seals replies to a key: who does not have its private half reads nothing.
 * @returns undefined for what is no key
 */
export async function sealerTo(key: unknown): Promise<((json: string) => Promise<SealedReply>) | undefined> {
  if (!Value.Check(P256Key, key)) return undefined
  const { kty, crv, x, y } = key
  const publicKey = await importJWK({ kty, crv, x, y }, protectedHeader.alg).catch(() => undefined)
  if (publicKey === undefined) return undefined
  return async (json) => ({
    sealed: await new CompactEncrypt(new TextEncoder().encode(json))
      .setProtectedHeader(protectedHeader)
      .encrypt(publicKey),
  })
}
