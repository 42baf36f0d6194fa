import { createHash } from 'node:crypto'
import { type TeamTool, teamTools } from '@backoffice/contracts'
import { type Static, Type } from '@sinclair/typebox'
import canonicalize from 'canonicalize'

/** A call of the team, as its person signs it. */
export interface CallToProve {
  /** The service and the operation, such as `payments.decideWithdrawal`. */
  readonly operation: string
  readonly operationId: string
  readonly input: unknown
  /** The proposal of somebody else that the call carries out. */
  readonly approves?: string
}

/** What goes with a call: who the person is, and that it is this person's call. */
export interface Proof {
  /** As the identity provider issued it. Undefined for a machine. */
  readonly idToken: string | undefined
  /** A JWS in its compact form, signed with the key of the session. */
  readonly proof: string
}

/** Clocks differ a little. */
export const clockToleranceMs = 60_000

/** The type of the JWS, so that a signature for something else is never taken for one of a call. */
export const proofType = 'team-call+jwt'

/** What the JWS says. */
export const ProofClaims = Type.Object({
  operation: Type.String(),
  operationId: Type.String(),
  inputDigest: Type.String(),
  approves: Type.Optional(Type.String()),
  /** Epoch seconds: when it was signed. */
  iat: Type.Integer(),
  tool: Type.Union(teamTools.map((tool) => Type.Literal<TeamTool>(tool))),
})
export type ProofClaims = Static<typeof ProofClaims>

/** SHA-256 of the input as canonical JSON (RFC 8785), so that the order of its fields does not matter; base64url. */
export function inputDigest(input: unknown): string {
  // As it is sent: a field that is undefined is not in the message.
  const sent: unknown = JSON.parse(JSON.stringify(input))
  return createHash('sha256')
    .update(canonicalize(sent) ?? '')
    .digest('base64url')
}
