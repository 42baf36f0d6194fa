import { Rejection } from '@backoffice/contracts'

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
