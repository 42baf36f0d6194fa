// Rules.

import { Rejection } from '@backoffice/contracts'
import { AddressRanges, writtenRange } from '@backoffice/process/address-ranges'
import type { AgreedQuotas } from '../quotas/quota.ts'

/** What the team changes about an operator. */
export interface OperatorTerms extends AgreedQuotas {
  readonly rateLimitPerMinute: number
  /** Empty: any address. */
  readonly allowedAddresses: readonly string[]
  readonly suspendedAt: Date | null
  /** Whether a signature is accepted for one request only. */
  readonly replayProtection: boolean
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
