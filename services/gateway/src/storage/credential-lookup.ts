import type { Scope } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

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
export async function findCredential(connection: Sql, key: string): Promise<StoredCredential | undefined> {
  const { rows } = await sql<Omit<StoredCredential, 'scope'> & Scope>`
    select c.id as "credentialId", c.sealed_secret as "sealedSecret", c.revoked_at is not null as revoked,
      o.suspended_at is not null as suspended, o.name as "operatorName", b.name as "brandName",
      o.rate_limit_per_minute as "rateLimitPerMinute", o.allowed_addresses as "allowedAddresses",
      o.id as "operatorId", b.id as "brandId", b.environment, b.currency, b.time_zone as "timeZone"
    from credential c join brand b on b.id = c.brand_id join operator o on o.id = b.operator_id
    where c.key = ${key}
  `.execute(connection)
  const row = rows[0]
  if (row === undefined) return undefined
  const { operatorId, brandId, environment, currency, timeZone, ...credential } = row
  return { ...credential, scope: { operatorId, brandId, environment, currency, timeZone } }
}
