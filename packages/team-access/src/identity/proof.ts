import { createHash } from 'node:crypto'
import { identifies, type Operation, type TeamTool, teamTools } from '@backoffice/contracts'
import { P256Key } from '@backoffice/rpc/seal'
import { type Static, Type } from '@sinclair/typebox'
import canonicalize from 'canonicalize'
import { calculateJwkThumbprint } from 'jose'
import { headerOf, IdentityRefused, publicKeyOf, signedClaims } from './session-key.ts'

/** Clocks differ a little. */
export const clockToleranceMs = 60_000
/** A signature is for one call and is sent at once. Later, a copy of it is worth nothing. */
export const proofAgeMsMax = 120_000

/** The type of the JWS, so that a signature for something else is never taken for one of a call. */
export const proofType = 'team-call+jwt'

/** What the JWS says. */
export const ProofClaims = Type.Object({
  /** The deployment that the call is for, so that a call to staging is worth nothing in production. */
  aud: Type.String(),
  operation: Type.String(),
  operationId: Type.String(),
  inputDigest: Type.String(),
  approves: Type.Optional(Type.String()),
  sealTo: Type.Optional(P256Key),
  /** Epoch seconds: when it was signed. */
  iat: Type.Integer(),
  tool: Type.Union(teamTools.map((tool) => Type.Literal<TeamTool>(tool))),
})
export type ProofClaims = Static<typeof ProofClaims>

/**
 * SHA-256 of the input as canonical JSON (RFC 8785), so that the order of its fields does not matter; base64url.
 * @throws {IdentityRefused} when there is none, such as for half of a character: nobody can have signed that
 */
export function inputDigest(input: unknown): string {
  try {
    // As it is sent: a field that is undefined is not in the message.
    const sent: unknown = JSON.parse(JSON.stringify(input))
    return createHash('sha256')
      .update(canonicalize(sent) ?? '')
      .digest('base64url')
  } catch (cause) {
    throw new IdentityRefused('call', 'the input has no canonical form', { cause })
  }
}

const isSecret = (name: string): boolean => /secret|password/i.test(name)

/**
 * An input as the audit trail keeps it: without secrets, and with an empty text for what says who a player is, since the
 * trail is kept for good and a player's data are not.
 */
export function auditedInput(
  { body }: Operation,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const kept = Object.entries(given).filter(([name]) => !isSecret(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, identifiesIn(body, name) ? '' : value]))
}

const identifiesIn = ({ properties }: Operation['body'], name: string): boolean => {
  const schema = properties[name]
  return schema !== undefined && identifies(schema)
}

/** Whether the trail keeps all of an operation's input, so that the digest which was signed can be made from it again. */
export const isKeptWhole = ({ body }: Operation): boolean =>
  !Object.keys(body.properties).some((name) => isSecret(name) || identifiesIn(body, name))

/** What an input is about and why it was sent, as the audit trail shows it. @param input as the trail keeps it */
export const subjectAndReason = (
  input: Readonly<Record<string, unknown>>,
): { readonly subject: string | null; readonly reason: string | null } => ({
  subject: subjectOf(input),
  reason: typeof input.reason === 'string' ? input.reason : null,
})

/** The record that an action is about: its own id if it names one, else the player, operator, brand or name. */
function subjectOf(input: Readonly<Record<string, unknown>>): string | null {
  const names = Object.keys(input)
  const owners = ['brandId', 'operatorId', 'playerId']
  const name = [
    ...names.filter((key) => key.endsWith('Id') && !owners.includes(key)),
    'id',
    'key',
    'playerId',
    'operatorId',
    'brandId',
    'name',
  ].find((key) => typeof input[key] === 'string' && input[key] !== '')
  return name === undefined ? null : String(input[name])
}

const delegationType = 'team-delegation+jwt'

/** What a session's key signs so that another key may read in the person's name: see `mayBeDelegated`. */
const DelegationClaims = Type.Object({
  /** The deployment that it is for. */
  aud: Type.String(),
  /** Thumbprint of the other key. */
  delegate: Type.String(),
  /** Epoch seconds. */
  iat: Type.Integer(),
  exp: Type.Integer(),
})
export type DelegationClaims = Static<typeof DelegationClaims>

/** Between whom and where a delegation must be. */
export interface ExpectedDelegation {
  /** Thumbprint of the session's key, as the ID token certifies it. */
  readonly session: string
  /** Thumbprint of the key that is to read. */
  readonly delegate: string | undefined
  readonly deployment: string | undefined
  readonly sessionHours: number
}

/** @throws {IdentityRefused} when it does not let this key read for this session now */
export async function verifyDelegation(
  delegation: unknown,
  { session, delegate, deployment, sessionHours }: ExpectedDelegation,
  now: Date,
): Promise<DelegationClaims> {
  const key = publicKeyOf(headerOf(delegation).jwk)
  if ((await calculateJwkThumbprint(key)) !== session)
    throw new IdentityRefused('nonce', "the delegation is of another session's key")
  const signed = { type: delegationType, schema: DelegationClaims }
  const claims = await signedClaims(String(delegation), key, signed)
  if (claims.aud !== deployment) throw new IdentityRefused('deployment', 'the delegation is for another deployment')
  if (claims.delegate !== delegate) throw new IdentityRefused('delegation', 'the delegation is for another key')
  if (claims.exp - claims.iat > sessionHours * 3_600)
    throw new IdentityRefused('delegation', 'the delegation is longer than a session')
  if (claims.iat * 1_000 > now.getTime() + clockToleranceMs)
    throw new IdentityRefused('delegation', 'the delegation is from the future')
  if (claims.exp * 1_000 <= now.getTime()) throw new IdentityRefused('session over', 'the delegation is over')
  return claims
}
