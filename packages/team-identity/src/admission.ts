import { freshLoginMinutes, holdsFor, type Operation, Rejection, rolesThatMay } from '@backoffice/contracts'
import { clockToleranceMs } from './proof.ts'
import type { TeamCaller } from './verifier.ts'

/**
 * Why somebody may not make a call, by the table of operations; undefined when they may.
 * @param now when the call is made
 */
export function refusalOf(
  operation: Operation,
  input: unknown,
  caller: Pick<TeamCaller, 'roles' | 'loggedInAt'>,
  now: Date,
): Rejection | undefined {
  const given = objectOf(input)
  const { freshLogin } = operation
  const roles = rolesThatMay(operation, given)
  if (!roles.some((role) => caller.roles.has(role))) return new Rejection('ROLE_REQUIRED', { roles })
  const needsFresh = given.unmask === true || (freshLogin !== undefined && holdsFor(freshLogin, given))
  // A machine has no login that could be left open at a desk.
  if (!needsFresh || caller.loggedInAt === undefined) return undefined
  const ageMs = now.getTime() - caller.loggedInAt.getTime()
  return ageMs >= -clockToleranceMs && ageMs <= freshLoginMinutes * 60_000
    ? undefined
    : new Rejection('FRESH_LOGIN_REQUIRED', { minutes: freshLoginMinutes, loggedInAt: caller.loggedInAt.toISOString() })
}

/** The fields of an input, which may not be validated yet; none if it is no object. */
export const objectOf = (input: unknown): Readonly<Record<string, unknown>> =>
  typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
