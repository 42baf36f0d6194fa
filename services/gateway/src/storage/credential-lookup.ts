import type { Scope } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'

/** What a request's key stands for. */
export interface StoredCredential {
  readonly credentialId: string
  readonly sealedSecret: string
  readonly revoked: boolean
  readonly suspended: boolean
  readonly operatorName: string
  readonly brandName: string
  readonly rateLimitPerMinute: number
  readonly allowedAddresses: readonly string[]
  readonly scope: Scope
}

/** One round trip: credential, brand and operator of a key. */
export async function findCredential(db: ReadDb, key: string): Promise<StoredCredential | undefined> {
  const [row] = await db<Omit<StoredCredential, 'scope'> & Scope>`
    select c.id as credential_id, c.sealed_secret, c.revoked_at is not null as revoked,
      o.suspended_at is not null as suspended, o.name as operator_name, b.name as brand_name,
      o.rate_limit_per_minute, o.allowed_addresses,
      o.id as operator_id, b.id as brand_id, b.environment, b.currency, b.time_zone
    from credential c join brand b on b.id = c.brand_id join operator o on o.id = b.operator_id
    where c.key = ${key}
  `
  if (row === undefined) return undefined
  const { operatorId, brandId, environment, currency, timeZone, ...credential } = row
  return { ...credential, scope: { operatorId, brandId, environment, currency, timeZone } }
}
