import type { CallToProve, Proof, TeamCaller, TeamRole, Who } from '@backoffice/contracts'
import { calculateJwkThumbprint, compactVerify, exportJWK, type JWK } from 'jose'
import { type IssuerKeys, issuerKeys, KeysUnavailable } from './issuer-keys.ts'
import { clockToleranceMs, inputDigest, ProofClaims, proofAgeMsMax, proofType, verifyDelegation } from './proof.ts'
import {
  headerOf,
  IdentityRefused,
  publicKeyOf,
  type SessionJwk,
  type SignatureHeader,
  signedClaims,
} from './session-key.ts'
import { lackingIn, type TeamIdentity } from './settings.ts'
import { readNonce, verifyLogoutToken } from './tokens.ts'
import { readableName } from './who.ts'

/** None with a shared secret: who can verify such a token can also make it. */
const idTokenAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** The longest ID token that is looked at. */
const idTokenLengthMax = 8_192
const nameLengthMax = 254
/** Of an issuer and a subject, which has 255 characters at most. */
const idLengthMax = 512
/** Sessions whose ID token was verified before. A team has fewer. */
const sessionsKeptMax = 1_000

interface Session extends Who {
  readonly roles: ReadonlySet<TeamRole>
  readonly thumbprint: string
  readonly loggedInAt: Date
  readonly lacking: TeamCaller['lacking']
  readonly issuedAt: Date
  readonly providerSession: string | undefined
  readonly endsAt: Date
  /** The provider's key that signed the ID token. */
  readonly anchor: JWK
  /** The provider's keys at that time: see `IssuerKeys.held`. */
  readonly verifiedWith: string
}

/** A call of which only the digest of the input is known. */
export type DigestedCall = Pick<ProofClaims, 'operation' | 'operationId' | 'inputDigest' | 'approves'>

/**
 * Finds out who of the team calls. The identity provider signs the ID token, whose `nonce` is the thumbprint of the
 * session's key: so the provider itself says whose key it is. The session's key signs the call.
 */
export class TeamVerifier {
  readonly #identity: TeamIdentity
  readonly #keys: IssuerKeys | undefined
  readonly #sessions = new Map<string, Session>()

  /** @param keys of the provider; those that the settings name when absent */
  constructor(identity: TeamIdentity, keys = identity.issuer === undefined ? undefined : issuerKeys(identity)) {
    this.#identity = identity
    this.#keys = keys
  }

  /**
   * @throws {IdentityRefused} when the call is not proven
   * @throws {KeysUnavailable} when the provider's keys cannot be read now
   */
  async verify({ input, ...call }: CallToProve, proof: Partial<Proof>, now: Date): Promise<TeamCaller> {
    return this.verifyDigested({ ...call, inputDigest: inputDigest(input) }, proof, now)
  }

  /** Like `verify`, for a call that somebody else has digested. */
  async verifyDigested(call: DigestedCall, { idToken, proof }: Partial<Proof>, now: Date): Promise<TeamCaller> {
    if (proof === undefined) throw new IdentityRefused('no proof', 'the call carries no signature of a person')
    if (idToken === undefined) return this.#ofMachine(call, proof, now)
    const session = await this.#session(idToken, now)
    const header = headerOf(proof)
    const key = await this.#keyOf(header, session, now)
    const { tool, sealTo } = await this.#verifyCall(call, proof, key, now)
    if (tool === 'program') throw new IdentityRefused('call', 'a program has no ID token')
    const { id, name, roles, thumbprint, loggedInAt, lacking, issuedAt, providerSession, anchor } = session
    return {
      kind: 'person',
      id,
      name,
      roles,
      session: thumbprint,
      loggedInAt,
      lacking,
      issuedAt,
      providerSession,
      tool,
      delegated: header.delegation !== undefined,
      sealTo,
      evidence: { idToken, proof },
      anchor,
    }
  }

  /**
   * Who was logged out at the identity provider, as the account whose sessions end: `issuedAt` says until when they began.
   * It has no role and has signed nothing.
   * @throws {IdentityRefused}
   * @throws {KeysUnavailable}
   */
  async verifyLogout(token: string | undefined, now: Date): Promise<TeamCaller> {
    const { audiences, issuer } = this.#identity
    if (this.#keys === undefined || issuer === undefined)
      throw new IdentityRefused('not configured', 'TEAM_ISSUER is not set')
    if (token === undefined || token.length > idTokenLengthMax)
      throw new IdentityRefused('logout token', 'there is no logout token, or it is too long')
    const expected = { issuer, audiences, keys: this.#keys, algorithms: idTokenAlgorithms }
    const { subject, providerSession, at } = await verifyLogoutToken(token, expected, now)
    return {
      kind: 'machine',
      // A session of its own alone, where it does not say whose.
      id: subject === undefined ? issuer : `${issuer} ${subject}`,
      name: 'identity provider',
      roles: new Set(),
      session: '',
      loggedInAt: undefined,
      lacking: undefined,
      issuedAt: at,
      providerSession,
      tool: 'program',
      delegated: false,
      sealTo: undefined,
      evidence: { idToken: token, proof: '' },
      anchor: {},
    }
  }

  async #ofMachine(call: DigestedCall, proof: string, now: Date): Promise<TeamCaller> {
    const machine = this.#identity.machines.get(String(headerOf(proof).kid))
    if (machine === undefined) throw new IdentityRefused('machine', 'there is no such machine')
    const { tool, iat, sealTo } = await this.#verifyCall(call, proof, machine.publicKey, now)
    if (tool !== 'program')
      throw new IdentityRefused('call', 'only a person works with the console or the command line')
    return {
      kind: 'machine',
      id: `machine ${machine.name}`,
      name: machine.name,
      roles: new Set(machine.roles),
      session: await calculateJwkThumbprint(machine.publicKey),
      loggedInAt: undefined,
      lacking: undefined,
      issuedAt: new Date(iat * 1_000),
      providerSession: undefined,
      tool,
      delegated: false,
      sealTo,
      evidence: { idToken: undefined, proof },
      anchor: machine.publicKey,
    }
  }

  /** A session makes many calls, and its ID token is the same in all of them. */
  async #session(idToken: string, now: Date): Promise<Session> {
    if (this.#keys === undefined) throw new IdentityRefused('not configured', 'TEAM_ISSUER is not set')
    const held = this.#keys.held()
    let session = this.#sessions.get(idToken)
    if (session?.verifiedWith !== held) {
      this.#sessions.delete(idToken)
      session = { ...(await this.#verifyIdToken(idToken, this.#keys)), verifiedWith: held }
    }
    // Calls are not always verified in the order in which they were made.
    if (Math.max(session.issuedAt.getTime(), session.loggedInAt.getTime()) > now.getTime() + clockToleranceMs)
      throw new IdentityRefused('ID token', 'the ID token is from the future')
    if (session.endsAt.getTime() <= now.getTime()) throw new IdentityRefused('session over', 'the session is over')
    this.#sessions.delete(idToken)
    this.#sessions.set(idToken, session)
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= sessionsKeptMax) break
      this.#sessions.delete(oldest)
    }
    return session
  }

  async #verifyIdToken(idToken: string, keys: IssuerKeys): Promise<Omit<Session, 'verifiedWith'>> {
    const { audiences, groupsClaim, issuer, nameClaim, rolesOfGroup, sessionHours, strongLogin } = this.#identity
    if (idToken.length > idTokenLengthMax) throw new IdentityRefused('ID token', 'the ID token is too long')
    const { claims, anchor } = await this.#claimsOf(idToken, keys)
    if (claims.iss !== issuer) throw new IdentityRefused('issuer', 'the ID token is of another issuer')
    const meantFor = [claims.aud].flat()
    // With several audiences, another one of them may have asked for the token.
    const client = meantFor.length === 1 ? meantFor[0] : claims.azp
    if (typeof client !== 'string' || !audiences.includes(client))
      throw new IdentityRefused('audience', 'the ID token is for another client')
    // `iat` says nothing about when somebody has shown who they are: a provider that knows a browser asks nobody.
    const { iat, auth_time: authTime, nonce, sid } = claims
    if (typeof iat !== 'number' || typeof authTime !== 'number' || typeof nonce !== 'string')
      throw new IdentityRefused('ID token', 'the ID token has no iat, no auth_time or no nonce')
    const { sub } = claims
    if (typeof sub !== 'string' || sub === '') throw new IdentityRefused('ID token', 'the ID token has no sub')
    const id = `${issuer} ${sub}`
    if (id.length > idLengthMax) throw new IdentityRefused('ID token', 'the sub of the ID token is too long')
    const claimed = claims[nameClaim]
    const name = typeof claimed === 'string' ? readableName(claimed) : undefined
    if (name === undefined || name.length > nameLengthMax)
      throw new IdentityRefused(
        'name',
        `the claim "${nameClaim}" of the ID token is no name, or may be read as another one`,
      )
    if (nameClaim === 'email' && claims.email_verified === false)
      throw new IdentityRefused('name', 'the provider has not verified the e-mail address')
    const { thumbprint, hours } = readNonce(nonce, sessionHours)
    const groups = [claims[groupsClaim] ?? []].flat() as unknown[]
    return {
      id,
      name,
      roles: new Set(groups.flatMap((group) => rolesOfGroup.get(String(group)) ?? [])),
      thumbprint,
      loggedInAt: new Date(authTime * 1_000),
      lacking: lackingIn(claims, strongLogin),
      issuedAt: new Date(iat * 1_000),
      providerSession: typeof sid === 'string' ? sid : undefined,
      // By its age, and not by `exp`: many providers let an ID token expire after an hour, since others take it for a
      // ticket. Here it only says whose key the session has.
      endsAt: new Date((iat + hours * 3_600) * 1_000),
      anchor,
    }
  }

  async #claimsOf(
    idToken: string,
    keys: IssuerKeys,
  ): Promise<{ readonly claims: Readonly<Record<string, unknown>>; readonly anchor: JWK }> {
    try {
      const verified = await compactVerify(idToken, keys.find, { algorithms: idTokenAlgorithms })
      const { payload, protectedHeader, key } = verified
      const claims = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>
      const { alg, kid } = protectedHeader
      return { claims, anchor: { ...(await exportJWK(key)), alg, ...(kid === undefined ? {} : { kid }) } }
    } catch (cause) {
      if (cause instanceof KeysUnavailable) throw cause
      throw new IdentityRefused('ID token', 'the ID token is not signed by the identity provider', { cause })
    }
  }

  /** The key that signs calls of a session: its own, or one that it lets read. */
  async #keyOf({ jwk, delegation }: SignatureHeader, session: Session, now: Date): Promise<SessionJwk> {
    if (jwk === undefined) throw new IdentityRefused('nonce', 'the signature does not name its key')
    const key = publicKeyOf(jwk)
    const thumbprint = await calculateJwkThumbprint(key)
    if (delegation !== undefined) {
      const { deployment, sessionHours } = this.#identity
      const expected = { session: session.thumbprint, delegate: thumbprint, deployment, sessionHours }
      await verifyDelegation(delegation, expected, now)
    } else if (thumbprint !== session.thumbprint)
      throw new IdentityRefused('nonce', "the ID token is for another session's key")
    return key
  }

  async #verifyCall(call: DigestedCall, proof: string, key: SessionJwk, now: Date): Promise<ProofClaims> {
    const claims = await signedClaims(proof, key, { type: proofType, schema: ProofClaims })
    const { deployment } = this.#identity
    if (claims.aud !== deployment)
      throw new IdentityRefused('deployment', `the signature is for another deployment than ${deployment}`)
    const { operation, operationId, inputDigest: digest, approves } = call
    const signed = [claims.operation, claims.operationId, claims.inputDigest, claims.approves]
    const sent = [operation, operationId, digest, approves]
    if (signed.some((claim, index) => claim !== sent[index]))
      throw new IdentityRefused('call', 'the signature is for another call')
    const ageMs = now.getTime() - claims.iat * 1_000
    if (ageMs > proofAgeMsMax || ageMs < -clockToleranceMs)
      throw new IdentityRefused('signed at another time', 'the call was signed too long ago, or in the future')
    return claims
  }
}
