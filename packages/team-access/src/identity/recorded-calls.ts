import {
  type ExportedAuditEntry,
  holdsFor,
  type Operation,
  type Proposal,
  proposalHours,
  type TeamCaller,
} from '@backoffice/contracts'
import { Value } from '@sinclair/typebox/value'
import { decodeJwt, type JWK } from 'jose'
import { fixedKeys, type IssuerKeys, issuerKeys, KeysUnavailable } from './issuer-keys.ts'
import { clockToleranceMs, inputDigest, isKeptWhole, ProofClaims, subjectAndReason } from './proof.ts'
import { IdentityRefused, publicKeyOf } from './session-key.ts'
import { type IdentitySettings, identityOf, type TeamIdentity } from './settings.ts'
import { TeamVerifier } from './verifier.ts'
import { isSame, objectOf, refusalOf } from './who.ts'

type RecordedProposal = NonNullable<ExportedAuditEntry['proposal']>
/** A call of the team as a service has kept it. */
type RecordedCall = RecordedProposal['proposed']

/** Who belonged to the team: the settings, and the keys that the provider had. */
export interface TrustedTeam {
  readonly identity: TeamIdentity
  readonly keys: IssuerKeys | undefined
}

/**
 * Who belongs to the team now.
 * @throws Error that names the setting which is wrong
 */
export function trustedTeam(settings: IdentitySettings): TrustedTeam {
  const identity = identityOf(settings)
  return { identity, keys: identity.issuer === undefined ? undefined : issuerKeys(identity) }
}

/** A call is verified within two minutes of its signature, and is done within its time limit. */
const recordedWithinMs = 600_000
/** With these codes a call is refused before its input is validated. The trail keeps nothing of one that is not valid. */
const refusedUnread = ['ROLE_REQUIRED', 'SIGNATURE_REQUIRED', 'FRESH_LOGIN_REQUIRED']

/**
 * Whether the trail keeps all of the input that was signed, so that the signature proves it. Otherwise it proves who called
 * which operation and when, but not with what.
 */
export const isInputProven = (operation: Operation, { outcome, input }: ExportedAuditEntry): boolean =>
  isKeptWhole(operation) && !(refusedUnread.includes(outcome ?? '') && Object.keys(objectOf(input)).length === 0)

/** What is known of a call beside its entry. */
interface Judged {
  readonly takesTwo?: boolean
  readonly isTimeCertain?: boolean
}

/** How a call is verified of which all is proven. */
const whole = { isWhole: true, isAllowed: true, isTimeCertain: true }

/** Verifies calls of the team long after they were made, and trusts no service: only the provider's keys and the settings. */
export class RecordedCalls {
  readonly #trusted: readonly (TrustedTeam & { readonly verifier: TeamVerifier })[]

  /** @param trusted what held when the calls were made. One of them that accepts a call is enough */
  constructor(trusted: readonly TrustedTeam[]) {
    this.#trusted = trusted.map((one) => ({ ...one, verifier: new TeamVerifier(one.identity, one.keys) }))
  }

  /**
   * Verifies an entry of the trail, with all who took part in it.
   * @param takesTwo whether the call takes two people for a reason that its input does not show
   * @param isTimeCertain false where the clock that recorded it is known to have been wrong: then only its signatures say when
   *   it was
   * @throws {IdentityRefused} that says what is not proven
   * @throws {KeysUnavailable} when the provider's keys cannot be read now
   */
  async verify(
    operation: Operation,
    entry: ExportedAuditEntry,
    { takesTwo = false, isTimeCertain = true }: Judged = {},
  ): Promise<TeamCaller> {
    const { outcome, proposal, input } = entry
    const isDone = outcome === 'done'
    const isWhole = isInputProven(operation, entry)
    const { caller } = await this.#verifyCall(operation, entry, { isWhole, isAllowed: isDone, isTimeCertain })
    assertShown(entry, caller)
    if (!isDone) return caller
    const { twoPeople } = operation
    const tableAsks = twoPeople !== undefined && twoPeople !== 'in production' && holdsFor(twoPeople, objectOf(input))
    if ((takesTwo || tableAsks) && proposal === null)
      throw new IdentityRefused('two people', 'it takes two people, and nobody has approved it')
    if (proposal !== null) await this.#verifyTwo(operation, entry, { ...proposal, isTimeCertain })
    return caller
  }

  /**
   * Why an entry of the trail is not proven; null when it is.
   * @throws {KeysUnavailable} when the provider's keys cannot be read now
   */
  async faultOf(operation: Operation, entry: ExportedAuditEntry, options?: Judged): Promise<string | null> {
    try {
      await this.verify(operation, entry, options)
      return null
    } catch (error) {
      if (error instanceof IdentityRefused) return error.message
      throw error
    }
  }

  /**
   * Why it is not proven that a proposal was made as it is shown: what, by whom and when. Null when it is.
   * @throws {KeysUnavailable} when the provider's keys cannot be read now
   */
  async faultOfProposal(operation: Operation, proposal: Proposal): Promise<string | null> {
    const { proposedBy: actor, proposedById: actorId, proposedAt: at, reason, ...others } = proposal
    const input = reason === null ? others.input : { ...objectOf(others.input), reason }
    return this.faultOfCall(operation, { ...others, actor, actorId, at, input })
  }

  /**
   * Why it is not proven that somebody who might has made a call as it is shown. Null when it is.
   * @param says what else than its reason the call must say; anything when absent
   * @throws {KeysUnavailable} when the provider's keys cannot be read now
   */
  async faultOfCall(operation: Operation, call: RecordedCall, says?: object): Promise<string | null> {
    try {
      if (says !== undefined && withoutReason(call.input) !== withoutReason(says))
        throw new IdentityRefused('entry', `${call.actor} has signed something else`)
      await this.#verifyCall(operation, call, whole)
      return null
    } catch (error) {
      if (error instanceof IdentityRefused) return error.message
      throw error
    }
  }

  /**
   * Both have signed the same, the second one for the proposal of the first and while it was open. Neither needs to be who
   * carried it out.
   */
  async #verifyTwo(
    operation: Operation,
    { input }: RecordedCall,
    { id, proposed, approved, isTimeCertain }: RecordedProposal & { readonly isTimeCertain: boolean },
  ): Promise<void> {
    if (approved === null) throw new IdentityRefused('two people', `nobody has approved ${id}`)
    const first = await this.#verifyCall(operation, proposed, { ...whole, isTimeCertain })
    const second = await this.#verifyCall(operation, approved, { ...whole, isTimeCertain })
    if (second.claims.approves !== id)
      throw new IdentityRefused('two people', `${approved.actor} has signed no approval of ${id}`)
    if (isSame(first.caller, second.caller) || second.caller.kind === 'machine')
      throw new IdentityRefused('two people', `${first.caller.name} alone has proposed and approved it`)
    const waitedMs = isTimeCertain
      ? Date.parse(approved.at) - Date.parse(proposed.at)
      : (second.claims.iat - first.claims.iat) * 1_000
    if (waitedMs < -clockToleranceMs || waitedMs >= proposalHours * 3_600_000)
      throw new IdentityRefused('two people', `${id} was not open when ${approved.actor} approved it`)
    const [what, ...others] = [input, proposed.input, approved.input].map(withoutReason)
    if (others.some((other) => other !== what))
      throw new IdentityRefused('two people', 'what was done, proposed and approved is not the same')
  }

  async #verifyCall(
    operation: Operation,
    call: RecordedCall,
    { isWhole, isAllowed, isTimeCertain }: typeof whole,
  ): Promise<{ readonly caller: TeamCaller; readonly claims: ProofClaims }> {
    const { proof, idToken, actor, actorId, operationId, input, at } = call
    if (proof === null) throw new IdentityRefused('no proof', 'nobody has signed it')
    const claims = claimsOf(proof)
    const { approves, inputDigest: signedDigest } = claims
    const digested = {
      operation: `${operation.service}.${operation.id}`,
      operationId,
      inputDigest: isWhole ? inputDigest(input) : signedDigest,
      ...(approves === undefined ? {} : { approves }),
    }
    const evidence = { proof, ...(idToken === null ? {} : { idToken }) }
    const signedAt = new Date(claims.iat * 1_000)
    const caller = await this.#anyAccepts(call, async (verifier) => {
      const caller = await verifier.verifyDigested(digested, evidence, signedAt)
      const refusal = isAllowed ? refusalOf(operation, input, caller, signedAt) : undefined
      if (refusal === undefined) return caller
      throw new IdentityRefused('role', `${caller.name} was not allowed to: ${refusal.code}`)
    })
    if (caller.name !== actor) throw new IdentityRefused('entry', `${caller.name} has signed it, and not ${actor}`)
    if (caller.id !== actorId)
      throw new IdentityRefused('entry', `the account ${caller.id} has signed it, and not ${actorId}`)
    const delayMs = Date.parse(at) - signedAt.getTime()
    if (isTimeCertain && (delayMs < -clockToleranceMs || delayMs > recordedWithinMs))
      throw new IdentityRefused('entry', `it was signed at ${signedAt.toISOString()}, and is recorded at another time`)
    return { caller, claims }
  }

  async #anyAccepts(call: RecordedCall, verify: (verifier: TeamVerifier) => Promise<TeamCaller>): Promise<TeamCaller> {
    const refusals: unknown[] = []
    for (const { verifier } of this.#trusted) {
      try {
        return await verify(verifier)
      } catch (error) {
        refusals.push(error)
      }
    }
    const worst = refusals.find((error) => error instanceof KeysUnavailable) ?? refusals.find(isOfRole)
    if (worst !== undefined) throw worst
    for (const { identity } of this.#trusted) {
      const verifier = withKeptKey(identity, call)
      const isProvenByIt = await verify(verifier).then(() => true, isOfRole)
      if (isProvenByIt) throw new IdentityRefused('key', `it rests on a key that is not known: ${nameOf(call.anchor)}`)
    }
    throw refusals.at(-1) ?? new IdentityRefused('not configured', 'nothing says who belongs to the team')
  }
}

/** Subject, reason and tool stand beside the input in an entry, and must be those that were signed. */
function assertShown({ input, subject, reason, tool = null }: ExportedAuditEntry, caller: TeamCaller): void {
  const signed = subjectAndReason(objectOf(input))
  if (subject !== signed.subject || reason !== signed.reason)
    throw new IdentityRefused('entry', 'its subject or reason is not the one that was signed')
  if (tool !== null && tool !== caller.tool)
    throw new IdentityRefused('entry', `it was signed with the ${caller.tool}, and not with the ${tool}`)
}

/** The most telling refusal: everything else about the call is right. */
const isOfRole = (error: unknown) => error instanceof IdentityRefused && error.reason === 'role'

/** Trusts the key that the service kept with a call, to find out whether that key is all that is wrong. */
function withKeptKey(identity: TeamIdentity, { anchor, idToken, actor }: RecordedCall): TeamVerifier {
  if (!isKey(anchor)) return new TeamVerifier(identity, fixedKeys([]))
  if (idToken !== null) return new TeamVerifier(identity, fixedKeys([anchor]))
  const machines = new Map([[actor, { name: actor, publicKey: publicKeyOf(anchor), roles: [] }]])
  return new TeamVerifier({ ...identity, machines }, fixedKeys([]))
}

const withoutReason = (input: unknown): string => {
  const { reason: _reason, ...what } = objectOf(input)
  return inputDigest(what)
}

function claimsOf(proof: string): ProofClaims {
  try {
    const claims = decodeJwt(proof)
    if (Value.Check(ProofClaims, claims)) return claims
  } catch (cause) {
    throw new IdentityRefused('signature', 'the signature cannot be read', { cause })
  }
  throw new IdentityRefused('call', 'the signature is not for a call')
}

/** Short enough to compare with what the provider publishes. */
const nameOf = (key: unknown): string => {
  const { kid, x, n } = isKey(key) ? key : {}
  return JSON.stringify(kid ?? x ?? n?.slice(0, 32) ?? null)
}

const isKey = (key: unknown): key is JWK => typeof key === 'object' && key !== null && 'kty' in key
