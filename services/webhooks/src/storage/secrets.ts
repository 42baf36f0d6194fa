import { randomBytes } from 'node:crypto'
import { type Db, type ReadDb, type SecretBox, unnest } from '@backoffice/service-runtime'
import { expiryAfterRotation, type SigningSecret } from '../domain/signature-headers.ts'
import { records } from './records.ts'

/** A new signing secret: a prefix that says what it is, and 32 random bytes. */
const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`

/** A secret as it is stored: only this service's master key decrypts it, and only for its endpoint. */
export interface SealedSecret {
  readonly endpointId: string
  readonly sealed: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
}

export function decryptSecrets(secrets: readonly SealedSecret[], box: SecretBox): SigningSecret[] {
  return secrets.map(({ endpointId, sealed, createdAt, expiresAt }) => ({
    secret: box.decrypt(sealed, endpointId),
    createdAt,
    expiresAt,
  }))
}

/** All secrets of endpoints that still sign, newest first. */
export function loadSecrets(db: ReadDb, endpointIds: readonly string[], now: Date): Promise<SealedSecret[]> {
  return db<SealedSecret>`
    select endpoint_id, sealed, created_at, expires_at from secret
    where endpoint_id = any(${endpointIds}::text[]) and (expires_at is null or expires_at > ${now}::timestamptz)
    order by created_at desc, id desc
  `
}

/** Makes the first secret of an endpoint; null when it has one, which is not shown again. */
export async function provisionSecret(
  db: Db,
  { endpointId, box, now }: { readonly endpointId: string; readonly box: SecretBox; readonly now: Date },
): Promise<string | null> {
  const secret = newWebhookSecret()
  const rows = await db`
    insert into secret (endpoint_id, sealed, created_at)
    values (${endpointId}, ${box.encrypt(secret, endpointId)}, ${now}::timestamptz)
    on conflict (endpoint_id) where expires_at is null do nothing
    returning true as made
  `
  return rows.length > 0 ? secret : null
}

/** Makes a new current secret and lets the former ones expire. The endpoint's row is locked. */
export async function rotateSecret(
  db: Db,
  rotation: { readonly endpointId: string; readonly box: SecretBox; readonly now: Date; readonly overlapMs: number },
): Promise<{ secret: string; formerExpiresAt: Date | null }> {
  const { endpointId, box, now, overlapMs } = rotation
  const signing = { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] }
  const { em, SecretEntity } = await records(db)
  const formers = await em.find(SecretEntity, { endpointId, ...signing })
  const ends = formers.map((former) => {
    const expiresAt = expiryAfterRotation(former.expiresAt ?? null, { now, overlapMs })
    em.assign(former, { expiresAt })
    return expiresAt
  })
  // Only one secret may be without an end, so the end of the former one is written first.
  await db.flush()
  const secret = newWebhookSecret()
  em.create(SecretEntity, { endpointId, sealed: box.encrypt(secret, endpointId), createdAt: now, expiresAt: null })
  return { secret, formerExpiresAt: ends.length === 0 ? null : new Date(Math.max(...ends.map(Number))) }
}

const rewrapBatchMax = 500

/**
 * Encrypts secrets of older master keys again, under the newest one.
 * @returns how many
 */
export async function rewrapStoredSecrets(db: Db, box: SecretBox): Promise<number> {
  for (let rewrapped = 0; ; ) {
    const rows = await db<{ id: bigint; endpointId: string; sealed: string }>`
      select id, endpoint_id, sealed from secret where not starts_with(sealed, ${`${box.newestKeyId}.`}) limit ${rewrapBatchMax}
    `
    const renewed = rows.map((row) => ({ ...row, rewrapped: box.rewrap(row.sealed, row.endpointId) }))
    await db`
      update secret s set sealed = r.rewrapped
      from ${unnest('r', renewed, 'id bigint, sealed text, rewrapped text')}
      where s.id = r.id and s.sealed = r.sealed
    `
    rewrapped += rows.length
    if (rows.length < rewrapBatchMax) return rewrapped
  }
}
