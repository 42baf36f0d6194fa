import { type Static, Type } from '@sinclair/typebox'
import { calculateJwkThumbprint } from 'jose'
import { clockToleranceMs } from './proof.ts'
import { IdentityRefused } from './refused.ts'
import { headerOf, publicKeyOf, signedClaims } from './session-key.ts'

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
