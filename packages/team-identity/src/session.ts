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

interface Signing {
  readonly privateKey: CryptoKey
  /** How the signature names its key. */
  readonly names: { readonly jwk: JWK } | { readonly kid: string }
  readonly idToken: string | undefined
  readonly tool: TeamTool
  /** Says when; the system's clock unless a test has one of its own. */
  readonly now?: (() => Date) | undefined
}

class CallSigner implements TeamSigner {
  readonly #signing: Signing

  constructor(signing: Signing) {
    this.#signing = signing
  }

  async sign({ operation, operationId, input, approves }: CallToProve): Promise<Proof> {
    const { privateKey, names, idToken, tool, now = () => new Date() } = this.#signing
    const claims: ProofClaims = {
      operation,
      operationId,
      inputDigest: inputDigest(input),
      ...(approves === undefined ? {} : { approves }),
      iat: Math.floor(now().getTime() / 1_000),
      tool,
    }
    const jwt = new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithm, typ: proofType, ...names })
    return { idToken, proof: await jwt.sign(privateKey) }
  }
}

interface Login extends Pick<Signing, 'tool' | 'now'> {
  readonly idToken: string
  readonly key: SessionKey
}

/** Signs the calls of a person who has logged in. */
export class PersonSigner extends CallSigner {
  constructor({ key, ...login }: Login) {
    super({ ...login, privateKey: key.privateKey, names: { jwk: key.publicJwk } })
  }
}

interface Machine extends Pick<Signing, 'privateKey' | 'now'> {
  /** As the settings of the services name it. */
  readonly name: string
}

/** Signs the calls of a machine, whose public key and roles stand in the settings of the services. */
export class MachineSigner extends CallSigner {
  constructor({ name, ...machine }: Machine) {
    super({ ...machine, names: { kid: name }, idToken: undefined, tool: 'program' })
  }
}
