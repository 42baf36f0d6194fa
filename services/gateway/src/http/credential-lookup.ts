// Records.

import type { Scope } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'

/** What a request's key stands for. */
export interface StoredCredential {
  readonly credentialId: string
  readonly key: string
  readonly sealedSecret: string
  readonly revoked: boolean
  readonly suspended: boolean
  readonly operatorName: string
  readonly brandName: string
  readonly rateLimitPerMinute: number
  readonly allowedAddresses: readonly string[]
  /** Whether a signature is accepted for one request only. */
  readonly replayProtection: boolean
  readonly scope: Scope
}

/**
 * One round trip: credential, brand and operator of each key.
 * @returns in the order of the keys; undefined for a key that does not exist
 */
export async function findCredentials(
  db: ReadDb,
  keys: readonly string[],
): Promise<readonly (StoredCredential | undefined)[]> {
  const rows = await db<Omit<StoredCredential, 'scope'> & Scope>`
    select c.id as credential_id, c.key, c.sealed_secret, c.revoked_at is not null as revoked,
      o.suspended_at is not null as suspended, o.name as operator_name, b.name as brand_name,
      o.rate_limit_per_minute, o.allowed_addresses, o.replay_protection,
      o.id as operator_id, b.id as brand_id, b.environment, b.currency, b.time_zone
    from credential c join brand b on b.id = c.brand_id join operator o on o.id = b.operator_id
    where c.key = any(${keys}::text[])
  `
  const found = new Map(
    rows.map(({ operatorId, brandId, environment, currency, timeZone, ...credential }) => [
      credential.key,
      { ...credential, scope: { operatorId, brandId, environment, currency, timeZone } },
    ]),
  )
  return keys.map((key) => found.get(key))
}
