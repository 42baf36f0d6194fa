import type { CallToProve, Proof, TeamSigner, TeamTool } from '@backoffice/contracts'
import { type CryptoKey, SignJWT } from 'jose'
import { inputDigest, type ProofClaims, proofType } from './proof.ts'
import { algorithmOf, type SessionJwk, type SessionKey } from './session-key.ts'

interface Signing {
  readonly privateKey: CryptoKey
  readonly alg: string
  /** How the signature names its key, and what lets that key speak for somebody. */
  readonly names: { readonly jwk: SessionJwk; readonly delegation?: string } | { readonly kid: string }
  /** The origin of the console, as whoever signs knows it. */
  readonly deployment: string
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

  async sign({ operation, operationId, input, approves, sealTo }: CallToProve): Promise<Proof> {
    const { privateKey, alg, names, deployment, idToken, tool, now = () => new Date() } = this.#signing
    const claims: ProofClaims = {
      aud: deployment,
      operation,
      operationId,
      inputDigest: inputDigest(input),
      ...(approves === undefined ? {} : { approves }),
      ...(sealTo === undefined ? {} : { sealTo }),
      iat: Math.floor(now().getTime() / 1_000),
      tool,
    }
    const jwt = new SignJWT({ ...claims }).setProtectedHeader({ alg, typ: proofType, ...names })
    return { idToken, proof: await jwt.sign(privateKey) }
  }
}

type Common = Pick<Signing, 'deployment' | 'now'>

interface Login extends Common, Pick<Signing, 'tool'> {
  readonly idToken: string
  readonly key: SessionKey
}

/** Signs the calls of a person who has logged in. */
export class PersonSigner extends CallSigner {
  constructor({ key: { privateKey, publicJwk: jwk }, ...login }: Login) {
    super({ ...login, privateKey, alg: algorithmOf(jwk), names: { jwk } })
  }
}

interface Delegated extends Common {
  readonly idToken: string
  /** As the session's key has signed it for this one. */
  readonly delegation: string
  readonly key: SessionKey
}

/** Signs what the console reads in the name of a person, whose session's key lets it. */
export class DelegatedSigner extends CallSigner {
  constructor({ key: { privateKey, publicJwk: jwk }, delegation, ...others }: Delegated) {
    super({ ...others, privateKey, alg: algorithmOf(jwk), names: { jwk, delegation }, tool: 'console' })
  }
}

interface Machine extends Common, Pick<Signing, 'privateKey'> {
  /** As the settings of the services name it. */
  readonly name: string
}

/** Signs the calls of a machine, whose public key and roles stand in the settings of the services. */
export class MachineSigner extends CallSigner {
  constructor({ name, ...machine }: Machine) {
    super({ ...machine, alg: 'EdDSA', names: { kid: name }, idToken: undefined, tool: 'program' })
  }
}
