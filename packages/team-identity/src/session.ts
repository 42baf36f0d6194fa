import type { TeamTool } from '@backoffice/contracts'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { type CallToProve, inputDigest, type Proof, type ProofClaims, proofType } from './proof.ts'

/** The key pair of one login. Its thumbprint is the `nonce` of the login, so that the ID token certifies the key. */
export interface SessionKey {
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string
}

const algorithm = 'EdDSA'

/** A key pair for one login. */
export async function newSessionKey(): Promise<SessionKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { crv: 'Ed25519', extractable: true })
  return sessionKey(privateKey, await exportJWK(publicKey))
}

/** The private key as a JWK, for whoever keeps a session: it is a secret. */
export const exportSessionKey = ({ privateKey }: SessionKey): Promise<JWK> => exportJWK(privateKey)

/** @param jwk what `exportSessionKey` gave */
export async function importSessionKey(jwk: JWK): Promise<SessionKey> {
  const { d: _secret, ...publicJwk } = jwk
  return sessionKey((await importJWK(jwk, algorithm)) as CryptoKey, publicJwk)
}

async function sessionKey(privateKey: CryptoKey, publicJwk: JWK): Promise<SessionKey> {
  const { kty, crv, x } = publicJwk
  const bare = { kty, crv, x } as JWK
  return { privateKey, publicJwk: bare, thumbprint: await calculateJwkThumbprint(bare) }
}

/** Signs the calls of one person or machine. */
export interface TeamSigner {
  sign(call: CallToProve): Promise<Proof>
}

interface Login {
  readonly idToken: string
  readonly key: SessionKey
  readonly tool: TeamTool
  /** Says when; the system's clock unless a test has one of its own. */
  readonly now?: () => Date
}

/** Signs the calls of a person who has logged in. */
export class PersonSigner implements TeamSigner {
  readonly #login: Login

  constructor(login: Login) {
    this.#login = login
  }

  async sign(call: CallToProve): Promise<Proof> {
    const { idToken, key, tool, now } = this.#login
    const header = { alg: algorithm, typ: proofType, jwk: key.publicJwk }
    const jwt = new SignJWT({ ...claimsOf(call, tool, now) }).setProtectedHeader(header)
    return { idToken, proof: await jwt.sign(key.privateKey) }
  }
}

interface Machine {
  /** As the settings of the services name it. */
  readonly name: string
  readonly privateKey: CryptoKey
  readonly now?: () => Date
}

/** Signs the calls of a machine, whose public key and roles stand in the settings of the services. */
export class MachineSigner implements TeamSigner {
  readonly #machine: Machine

  constructor(machine: Machine) {
    this.#machine = machine
  }

  async sign(call: CallToProve): Promise<Proof> {
    const { name, privateKey, now } = this.#machine
    const header = { alg: algorithm, typ: proofType, kid: name }
    const jwt = new SignJWT({ ...claimsOf(call, 'program', now) }).setProtectedHeader(header)
    return { idToken: undefined, proof: await jwt.sign(privateKey) }
  }
}

const claimsOf = (
  { operation, operationId, input, approves }: CallToProve,
  tool: TeamTool,
  now: () => Date = () => new Date(),
): ProofClaims => ({
  operation,
  operationId,
  inputDigest: inputDigest(input),
  ...(approves === undefined ? {} : { approves }),
  iat: Math.floor(now().getTime() / 1_000),
  tool,
})
