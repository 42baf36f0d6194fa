import {
  freshLoginMinutes,
  holdsFor,
  type Operation,
  Rejection,
  rolesThatMay,
  type TeamRole,
  type TeamTool,
} from '@backoffice/contracts'
import type { JWK } from 'jose'
import { clockToleranceMs, type Proof } from './proof.ts'
import type { ReplyKey } from './session-key.ts'
import type { Lacking } from './strong-login.ts'

/** Who somebody of the team is. */
export interface Who {
  /**
   * Of a person, the identity provider and the account there: `iss` and `sub`, with a space between. Of a machine, `machine`
   * and its name. It stays the same when the name is changed.
   */
  readonly id: string
  /** For people to read, as the identity provider says it, in one way to write it: see `readableName`. */
  readonly name: string
}

/** Who of the team calls, as it was proven. */
export interface TeamCaller extends Who {
  readonly kind: 'person' | 'machine'
  readonly roles: ReadonlySet<TeamRole>
  /** The thumbprint of the session's key; of a machine, of its own key. */
  readonly session: string
  /** When the person proved who they are at the identity provider. Undefined for a machine. */
  readonly loggedInAt: Date | undefined
  /** What their login lacks of a strong one. Undefined where nothing does, and for a machine. */
  readonly lacking: Lacking | undefined
  /** When the provider certified the session's key; of a machine, when it signed this call. */
  readonly issuedAt: Date
  /** The provider's own name of its session (`sid`), where it gives one. */
  readonly providerSession: string | undefined
  readonly tool: TeamTool
  /** The session's key has not signed the call: it lets the key that did read in the person's name. */
  readonly delegated: boolean
  /** To which the person has the reply sealed. */
  readonly sealTo: ReplyKey | undefined
  /** What proved it. */
  readonly evidence: Proof
  /**
   * The public key that all of it rests on: the provider's, which signed the ID token; of a machine, its own. It is kept
   * with the session, because the provider may have another one when somebody wants to see the proof.
   */
  readonly anchor: JWK
}

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
