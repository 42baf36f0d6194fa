// Rules.

import {
  type AuditedChange,
  type Environment,
  type HomologationCheck,
  homologationCheckNames,
  type Input,
  invalid,
  type operations,
  Rejection,
  type Reply,
  type StoredAmount,
} from '@backoffice/contracts'
import { AddressRanges, writtenRange } from '@backoffice/process/addresses'

/** What quotas follow from where nothing else is agreed. */
export interface DefaultQuotas {
  /** What a day of the sandbox may store. */
  readonly sandbox: StoredAmount
  /** What one request stores at most: in production, whoever keeps the rate limit all day passes no quota. */
  readonly request: StoredAmount
}

/** What the team has set for an operator; null: the default. */
export interface AgreedLimits {
  readonly rateLimitPerMinute: number
  readonly storedMebibytesPerDay: number | null
  readonly storedRowsPerDay: number | null
}

/** What was stored on a day. */
export interface DayUse extends StoredAmount {
  /** YYYY-MM-DD, in UTC. */
  readonly day: string
}

export const mebibyte = 1024 * 1024

/** Minutes of the rate limit that a day has a part in: one may have begun before it. */
const minutesMax = 24 * 60 + 1

/** The sandbox has bounds of its own, which no agreement raises. */
export function quotasOf(agreed: AgreedLimits, environment: Environment, defaults: DefaultQuotas): StoredAmount {
  const { rateLimitPerMinute, storedMebibytesPerDay, storedRowsPerDay } = agreed
  const { sandbox, request } = defaults
  const requests = rateLimitPerMinute * minutesMax
  const ofRate = { bytes: requests * request.bytes, rows: requests * request.rows }
  const usual = environment === 'production' ? ofRate : sandbox
  const bytes = storedMebibytesPerDay === null ? usual.bytes : storedMebibytesPerDay * mebibyte
  const rows = storedRowsPerDay ?? usual.rows
  if (environment === 'production') return { bytes, rows }
  return { bytes: Math.min(bytes, usual.bytes), rows: Math.min(rows, usual.rows) }
}

/** What the team changes about an operator. */
export interface OperatorTerms extends AgreedLimits {
  /** Empty: any address. */
  readonly allowedAddresses: readonly string[]
  readonly suspendedAt: Date | null
  /** Whether a signature is accepted for one request only. */
  readonly replayProtection: boolean
}

/** What became different of terms, for the audit trail. */
export function differences<Terms extends object>(before: Terms, after: Terms): AuditedChange[] {
  const shown = (value: unknown) =>
    value === null ? null : value instanceof Date ? value.toISOString() : String(value)
  return (Object.keys(before) as (keyof Terms & string)[])
    .map((field) => ({ field, before: shown(before[field]), after: shown(after[field]) }))
    .filter((change) => change.before !== change.after)
}

/** Suspending an operator again keeps the time of the first suspension. */
export const suspend = (terms: OperatorTerms, now: Date): OperatorTerms => ({
  ...terms,
  suspendedAt: terms.suspendedAt ?? now,
})

export const activate = (terms: OperatorTerms): OperatorTerms => ({ ...terms, suspendedAt: null })

export const protectFromReplays = (terms: OperatorTerms, replayProtection: boolean): OperatorTerms => ({
  ...terms,
  replayProtection,
})

/**
 * When a key is revoked: now, unless it was before. The last active key of an environment cannot be revoked. To stop an
 * operator, suspend it.
 * @param activeKeys of the key's environment, itself included while it is active
 * @throws {Rejection} CREDENTIAL_LAST_ACTIVE
 */
export function revokedAt(before: Date | null, activeKeys: number, now: Date): Date {
  if (before !== null) return before
  if (activeKeys <= 1) throw new Rejection('CREDENTIAL_LAST_ACTIVE')
  return now
}

/**
 * Ranges as they are stored and shown: one way to write each, so that a person sees what a range really means.
 * @throws {Rejection} VALIDATION_ERROR naming each entry that is neither an address nor a CIDR range
 */
export function normaliseRanges(allowedAddresses: readonly string[]): string[] {
  const ranges = allowedAddresses.map(writtenRange)
  const message = 'must be an address or a CIDR range, and IPv4 four decimal numbers'
  const issues = ranges.flatMap((range, index) =>
    range === null ? [{ path: `/allowedAddresses/${index}`, message }] : [],
  )
  if (issues.length > 0) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
  return ranges.filter((range) => range !== null)
}

/** Whether ranges permit what those before did not. An empty list permits any address; each range must lie in one of before. */
export function isWidened(before: readonly string[], after: readonly string[]): boolean {
  const permitted = new AddressRanges(before)
  return !permitted.isEmpty && (after.length === 0 || !after.every((range) => permitted.covers(range)))
}

/** A check of homologation that is proved, since when, by what, and when that was seen last. */
export interface Proof {
  readonly item: HomologationCheck
  readonly firstAt: Date
  readonly proof: string
  readonly lastAt: Date
}

type HeardProof = Reply<typeof operations.webhooks.readHomologation>['proofs'][number]

/** A proof as webhooks say it. */
export const heardProof = ({ check: item, at, proof }: HeardProof): Proof => {
  const seenAt = new Date(at)
  return { item, firstAt: seenAt, proof, lastAt: seenAt }
}

/** Of several proofs of each check one, from the first time to the last. */
export function proofsByCheck(proofs: readonly Proof[]): ReadonlyMap<HomologationCheck, Proof> {
  const byCheck = new Map<HomologationCheck, Proof>()
  for (const proof of proofs) {
    const known = byCheck.get(proof.item)
    const first = known === undefined || proof.firstAt < known.firstAt ? proof : known
    const lastAt = known === undefined || proof.lastAt > known.lastAt ? proof.lastAt : known.lastAt
    byCheck.set(proof.item, { ...first, lastAt })
  }
  return byCheck
}

/**
 * What an operator's first pair of production takes: all checks, or people who say why not.
 * @param live whether it has such a pair
 * @returns how much is proved, for the audit trail; undefined where it does not matter
 * @throws {Rejection} VALIDATION_ERROR, HOMOLOGATION_INCOMPLETE
 */
export function judgeHomologation(
  { environment, withoutHomologation }: Input<typeof operations.gateway.issueCredential>,
  { live, proofs }: { readonly live: boolean; readonly proofs: readonly Proof[] },
): string | undefined {
  const isFirst = environment === 'production' && !live
  if (!isFirst && withoutHomologation !== undefined)
    throw invalid('body', '/withoutHomologation', 'is for the first pair of production')
  if (!isFirst) return undefined
  const proved = proofsByCheck(proofs)
  const missing = homologationCheckNames.filter((check) => !proved.has(check))
  if (missing.length > 0 && withoutHomologation === undefined)
    throw new Rejection('HOMOLOGATION_INCOMPLETE', { missing })
  return `${proved.size} / ${homologationCheckNames.length}`
}
