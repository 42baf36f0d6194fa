import {
  freshLoginMinutes,
  holdsFor,
  type Operation,
  Rejection,
  rolesThatMay,
  type TeamCaller,
  type Who,
} from '@backoffice/contracts'
import { clockToleranceMs } from './proof.ts'

/** Two people differ in both: one account may get another name, and one person may have two accounts under it. */
export const isSame = (one: Who, other: Who): boolean => one.id === other.id || one.name === other.name

/** What does not show by itself, and spaces of other kinds than the plain one. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const latin = /\p{Script=Latin}/u
const otherLetters = /(?!\p{Script=Latin})(?!\p{Script=Common})(?!\p{Script=Inherited})\p{L}/u

/**
 * A name in one way to write it: without a difference of case, of width, of composed letters or of spaces.
 * @returns undefined for what cannot be told apart by its looks: nothing, characters that do not show, or letters of Latin
 *   script among those of another one
 */
export function readableName(claim: string): string | undefined {
  if (unseen.test(claim)) return undefined
  const name = claim.normalize('NFKC').toLowerCase().normalize('NFKC').replace(/\s+/gu, ' ').trim()
  return name === '' || (latin.test(name) && otherLetters.test(name)) ? undefined : name
}

/**
 * Why somebody may not make a call, by the table of operations; undefined when they may.
 * @param now when the call is made
 */
export function refusalOf(
  operation: Operation,
  input: unknown,
  caller: Pick<TeamCaller, 'roles' | 'loggedInAt' | 'lacking' | 'delegated'>,
  now: Date,
): Rejection | undefined {
  const given = objectOf(input)
  const { freshLogin } = operation
  const roles = rolesThatMay(operation, given)
  if (!roles.some((role) => caller.roles.has(role))) return new Rejection('ROLE_REQUIRED', { roles })
  if (caller.delegated && !mayBeDelegated(operation, given)) return new Rejection('SIGNATURE_REQUIRED')
  const needsFresh = given.unmask === true || (freshLogin !== undefined && holdsFor(freshLogin, given))
  // A machine has no login that could be left open at a desk.
  const { loggedInAt, lacking } = caller
  if (!needsFresh || loggedInAt === undefined) return undefined
  const ageMs = now.getTime() - loggedInAt.getTime()
  const isFresh = ageMs >= -clockToleranceMs && ageMs <= freshLoginMinutes * 60_000
  if (isFresh && lacking === undefined) return undefined
  return new Rejection('FRESH_LOGIN_REQUIRED', {
    minutes: freshLoginMinutes,
    loggedInAt: loggedInAt.toISOString(),
    ...(lacking === undefined ? {} : { lacking }),
  })
}

/** Whether a key that a person only lets read may call it: it changes nothing, and shows nothing that is masked otherwise. */
const mayBeDelegated = (
  { kind, delegable, discloses }: Operation,
  { unmask }: { readonly unmask?: unknown },
): boolean => (kind === 'query' || delegable === true) && discloses !== true && unmask !== true

/** The fields of an input, which may not be validated yet; none if it is no object. */
export const objectOf = (input: unknown): Readonly<Record<string, unknown>> =>
  typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
