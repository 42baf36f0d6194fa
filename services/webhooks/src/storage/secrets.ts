import { randomBytes } from 'node:crypto'
import type { SecretBox, Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import { expiryAfterRotation, type SigningSecret } from '../domain/signature-headers.ts'

/** A new signing secret: 32 random bytes behind the prefix that says what it is. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`

/** A secret as it is stored: only this service's master key opens it, and only for its endpoint. */
export interface SealedSecret {
  readonly sealed: string
  readonly createdAt: string
  readonly expiresAt: string | null
}

export function openSecrets(secrets: readonly SealedSecret[], endpointId: string, box: SecretBox): SigningSecret[] {
  return secrets.map(({ sealed, createdAt, expiresAt }) => ({
    secret: box.decrypt(sealed, endpointId),
    createdAt: new Date(createdAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  }))
}

/** All that still sign. */
export async function loadSecrets(connection: Sql, endpointId: string, now: Date): Promise<SealedSecret[]> {
  const { rows } = await sql<SealedSecret>`
    select sealed, created_at as "createdAt", expires_at as "expiresAt" from secret
    where endpoint_id = ${endpointId} and (expires_at is null or expires_at > ${now}::timestamptz)
  `.execute(connection)
  return rows
}

/** Makes the first secret of an endpoint; null when it has one, which is not shown again. */
export async function provisionSecret(
  connection: Sql,
  { endpointId, box, now }: { readonly endpointId: string; readonly box: SecretBox; readonly now: Date },
): Promise<string | null> {
  const secret = newWebhookSecret()
  const { rows } = await sql`
    insert into secret (endpoint_id, sealed, created_at)
    values (${endpointId}, ${box.encrypt(secret, endpointId)}, ${now}::timestamptz)
    on conflict (endpoint_id) where expires_at is null do nothing
    returning true
  `.execute(connection)
  return rows.length > 0 ? secret : null
}

/** Makes a new current secret and lets the former ones expire. The endpoint's row is locked. */
export async function rotateSecret(
  connection: Sql,
  rotation: { readonly endpointId: string; readonly box: SecretBox; readonly now: Date; readonly overlapMs: number },
): Promise<{ secret: string; formerExpiresAt: Date | null }> {
  const { endpointId, box, now, overlapMs } = rotation
  const { rows } = await sql<{ id: string; expires_at: string | null }>`
    select id, expires_at from secret
    where endpoint_id = ${endpointId} and (expires_at is null or expires_at > ${now}::timestamptz)
  `.execute(connection)
  let formerExpiresAt: Date | null = null
  for (const row of rows) {
    const expiresAt = expiryAfterRotation(row.expires_at === null ? null : new Date(row.expires_at), { now, overlapMs })
    if (formerExpiresAt === null || expiresAt > formerExpiresAt) formerExpiresAt = expiresAt
    await sql`update secret set expires_at = ${expiresAt}::timestamptz where id = ${row.id}`.execute(connection)
  }
  const secret = newWebhookSecret()
  await sql`
    insert into secret (endpoint_id, sealed, created_at)
    values (${endpointId}, ${box.encrypt(secret, endpointId)}, ${now}::timestamptz)
  `.execute(connection)
  return { secret, formerExpiresAt }
}

const rewrapBatchMax = 500

/** Re-encrypts under the newest master key what older ones hold. @returns how many were */
export async function rewrapSecrets(connection: Sql, box: SecretBox): Promise<number> {
  let rewrapped = 0
  for (;;) {
    const { rows } = await sql<{ id: string; endpoint_id: string; sealed: string }>`
      select id, endpoint_id, sealed from secret where not starts_with(sealed, ${`${box.newestKeyId}.`}) limit ${rewrapBatchMax}
    `.execute(connection)
    for (const row of rows) {
      await sql`update secret set sealed = ${box.rewrap(row.sealed, row.endpoint_id)} where id = ${row.id} and sealed = ${row.sealed}`.execute(
        connection,
      )
    }
    rewrapped += rows.length
    if (rows.length < rewrapBatchMax) return rewrapped
  }
}
