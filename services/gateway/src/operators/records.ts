import { type Environment, Rejection, type Scope, type StoredAmount } from '@backoffice/contracts'
import type { SecretBox } from '@backoffice/database/vault'
import { AddressRanges } from '@backoffice/process/addresses'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import type { Loaded } from '@mikro-orm/postgresql'
import { type KnownKey, operatorKeys } from '../keys.ts'
import type { BrandEntity, CredentialEntity, OperatorEntity } from './entities.ts'
import { type AgreedLimits, type DayUse, type DefaultQuotas, quotasOf } from './operator.ts'

/** The entity manager and the entities, which the first edit by the team loads. */
export async function records(db: ReadDb) {
  const [em, entities] = await Promise.all([db.em(), import('./entities.ts')])
  return { em, ...entities }
}

export type OperatorWithBrands = Loaded<OperatorEntity, 'brands.credentials'>

/** @throws {Rejection} OPERATOR_NOT_FOUND */
export async function lockOperator(db: Db, operatorId: string): Promise<OperatorEntity> {
  const { em, Operator, LockMode } = await records(db)
  const operator = await em.findOne(Operator, { id: operatorId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (operator === null) throw new Rejection('OPERATOR_NOT_FOUND')
  return operator
}

/** The operators that match, by name, with their brands and credentials. */
export async function findOperators(
  db: ReadDb,
  where: { readonly id: string } | { readonly name: string | { readonly $gt: string } },
  limit = 1,
): Promise<OperatorWithBrands[]> {
  const { em, Operator } = await records(db)
  return em.find(Operator, where, { populate: ['brands.credentials'], orderBy: { name: 'asc' }, limit })
}

/** @throws {Rejection} OPERATOR_NOT_FOUND */
export async function readOperator(
  db: ReadDb,
  where: { readonly id: string } | { readonly name: string },
): Promise<OperatorWithBrands> {
  const [operator] = await findOperators(db, where)
  if (operator === undefined) throw new Rejection('OPERATOR_NOT_FOUND')
  return operator
}

/** @param name or id, or a key of the operator @throws {Rejection} OPERATOR_NOT_FOUND */
export async function readOperatorNamed(db: ReadDb, name: string): Promise<OperatorWithBrands> {
  if (!operatorKeys.shape.test(name)) return readOperator(db, name.startsWith('op_') ? { id: name } : { name })
  const [holder] = await db<{ id: string }>`
    select b.operator_id as id from credential c join brand b on b.id = c.brand_id where c.key = ${name}
  `
  if (holder === undefined) throw new Rejection('OPERATOR_NOT_FOUND')
  return readOperator(db, holder)
}

/** Unknown ids are left out. */
export function findOperatorNames(db: ReadDb, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  return db<{ id: string; name: string }>`select id, name from operator where id = any(${ids}::text[])`
}

/** Whether PostgreSQL has a time zone of this name. */
export async function isTimeZoneKnown(db: ReadDb, timeZone: string): Promise<boolean> {
  return (await db`select from pg_timezone_names where name = ${timeZone}`).length > 0
}

export async function isNameTaken(db: ReadDb, name: string): Promise<boolean> {
  return (await db`select from operator where name = ${name}`).length > 0
}

const brandColumns = 'id text, operator_id text, environment text, name text, currency text, time_zone text'
const credentialColumns = 'id text, brand_id text, key text, sealed_secret text, created_at timestamptz'

/**
 * A new operator and its brands. In SQL, as all that the first start of a system does: MikroORM would be in the memory of
 * its gateway from then on.
 */
export async function addOperator(
  db: Db,
  operator: Pick<OperatorEntity, 'id' | 'name' | 'rateLimitPerMinute' | 'allowedAddresses' | 'createdAt'>,
  brands: readonly Pick<BrandEntity, 'id' | 'environment' | 'name' | 'currency' | 'timeZone'>[],
): Promise<void> {
  const { id, name, rateLimitPerMinute, allowedAddresses, createdAt } = operator
  const rows = brands.map((brand) => ({ ...brand, operatorId: id }))
  await db`
    insert into operator (id, name, rate_limit_per_minute, allowed_addresses, created_at)
    values (${id}, ${name}, ${rateLimitPerMinute}, ${allowedAddresses}, ${createdAt})
  `
  await db`insert into brand ${sql.rows('new', rows, brandColumns)}`
}

export async function addCredential(
  db: Db,
  credential: Pick<CredentialEntity, 'id' | 'key' | 'sealedSecret' | 'createdAt'> & { readonly brandId: string },
): Promise<void> {
  await db`insert into credential ${sql.rows('new', [credential], credentialColumns)}`
}

/**
 * A key under the lock of its operator, so that two revocations at once cannot each leave the other's key as the last.
 * @throws {Rejection} CREDENTIAL_NOT_FOUND
 */
export async function lockCredential(
  db: Db,
  key: string,
): Promise<{
  readonly credential: CredentialEntity
  readonly operator: OperatorEntity
  readonly activeKeys: number
}> {
  const { em, Credential } = await records(db)
  const credential = await em.findOne(Credential, { key }, { populate: ['brand'] })
  if (credential === null) throw new Rejection('CREDENTIAL_NOT_FOUND')
  const operator = await lockOperator(db, credential.brand.operator.id)
  await em.refresh(credential)
  const activeKeys = await em.count(Credential, { brand: credential.brand.id, revokedAt: null })
  return { credential, operator, activeKeys }
}

/** When keys were last used, by the id of the key. One that is missing was never used. */
export async function findCredentialUses(
  db: ReadDb,
  credentialIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const rows = await db<{ credentialId: string; lastUsedAt: Date }>`
    select credential_id, last_used_at from credential_use where credential_id = any(${credentialIds}::text[])
  `
  return new Map(rows.map(({ credentialId, lastUsedAt }) => [credentialId, lastUsedAt]))
}

/** In the order of their ids, so that two replicas cannot deadlock. */
export async function writeCredentialUses(
  db: Db,
  uses: readonly { readonly credentialId: string; readonly at: Date }[],
): Promise<void> {
  await db`
    insert into credential_use (credential_id, last_used_at)
    select credential_id, at from ${sql.unnest('use', uses, 'credential_id text, at timestamptz')} order by credential_id
    on conflict (credential_id) do update set last_used_at = greatest(credential_use.last_used_at, excluded.last_used_at)
  `
}

/** How many keys of operators and providers that may call were not used since a moment. A key that is newer does not count. */
export function countUnusedCredentials(
  db: ReadDb,
  since: Date,
): Promise<{ readonly environment: Environment; readonly unused: bigint }[]> {
  return db<{ environment: Environment; unused: bigint }>`
    select c.environment, count(*) filter (
      where coalesce(u.last_used_at, c.created_at) < ${since}::timestamptz) as unused
    from (
      select c.id, c.created_at, b.environment
      from credential c join brand b on b.id = c.brand_id join operator o on o.id = b.operator_id
      where c.revoked_at is null and o.suspended_at is null
      union all
      select k.id, k.created_at, k.environment from provider_key k join provider p on p.id = k.provider_id
      where k.revoked_at is null and p.suspended_at is null
    ) c left join credential_use u on u.credential_id = c.id
    group by c.environment
  `
}

/** The current day in UTC. PostgreSQL's clock tells it, for every replica alike. */
export const today = sql`(now() at time zone 'utc')::date`

/** The day and what it has stored so far, of a row `u` that may be missing. */
export const useColumns = sql`
  ${today}::text as day, coalesce(u.bytes, 0)::float8 as bytes, coalesce(u.rows, 0)::float8 as rows
`
/** Whether a row `u` is of today: yesterday's counts for nothing. */
export const isOfToday = sql`u.day = ${today}`

export interface Tenant {
  readonly operatorId: string
  readonly environment: Environment
}

/** Whose requests of a minute are counted together: an operator's in an environment, or another name in its place (../providers/access.ts). */
export interface Budget {
  readonly operatorId: string
  readonly environment: string
}

/** Today's uses, of the operators with these ids; of all of them without ids. */
export async function findUses(
  db: ReadDb,
  operatorIds: readonly string[] | null,
): Promise<readonly (Tenant & AgreedLimits & DayUse)[]> {
  return db<Tenant & AgreedLimits & DayUse>`
    select u.operator_id, u.environment, o.rate_limit_per_minute, o.stored_mebibytes_per_day, o.stored_rows_per_day, ${useColumns}
    from daily_use u join operator o on o.id = u.operator_id
    where ${isOfToday} and (${operatorIds}::text[] is null or u.operator_id = any(${operatorIds}::text[]))
    order by u.operator_id, u.environment
  `
}

/** What a request's key stands for. */
export interface StoredCredential extends AgreedLimits {
  readonly credentialId: string
  readonly key: string
  readonly sealedSecret: string
  readonly revoked: boolean
  readonly suspended: boolean
  readonly operatorName: string
  readonly brandName: string
  readonly allowedAddresses: readonly string[]
  /** Whether a signature is accepted for one request only. */
  readonly replayProtection: boolean
  readonly scope: Scope
  /** By all keys of the operator in the environment. */
  readonly usedToday: DayUse
}

/**
 * One round trip: credential, brand, operator and day of each key.
 * @returns in the order of the keys; undefined for a key that does not exist
 */
export async function findCredentials(
  db: ReadDb,
  keys: readonly string[],
): Promise<readonly (StoredCredential | undefined)[]> {
  const rows = await db<Omit<StoredCredential, 'scope' | 'usedToday'> & Scope & DayUse>`
    select c.id as credential_id, c.key, c.sealed_secret, c.revoked_at is not null as revoked,
      o.suspended_at is not null as suspended, o.name as operator_name, b.name as brand_name,
      o.rate_limit_per_minute, o.allowed_addresses, o.replay_protection,
      o.stored_mebibytes_per_day, o.stored_rows_per_day, ${useColumns},
      o.id as operator_id, b.id as brand_id, b.environment, b.currency, b.time_zone
    from credential c join brand b on b.id = c.brand_id join operator o on o.id = b.operator_id
    left join daily_use u on u.operator_id = o.id and u.environment = b.environment and ${isOfToday}
    where c.key = any(${keys}::text[])
  `
  const found = new Map(
    rows.map(({ operatorId, brandId, environment, currency, timeZone, day, bytes, rows, ...credential }) => {
      const scope = { operatorId, brandId, environment, currency, timeZone }
      return [credential.key, { ...credential, scope, usedToday: { day, bytes, rows } }]
    }),
  )
  return keys.map((key) => found.get(key))
}

/** The same for a request: opened, and with the quotas that hold. */
export interface KnownCredential
  extends KnownKey,
    Omit<StoredCredential, 'sealedSecret' | 'allowedAddresses' | `stored${string}PerDay`> {
  /** Whose day its calls count for. */
  readonly tenant: Tenant
  readonly quotas: StoredAmount
}

/** Opens what is sealed of a key. */
export const openCredential =
  (secrets: SecretBox, defaults: DefaultQuotas) =>
  ({ sealedSecret, allowedAddresses, ...stored }: StoredCredential): KnownCredential => {
    const { operatorId, environment } = stored.scope
    return {
      ...stored,
      secret: secrets.decrypt(sealedSecret, stored.credentialId),
      permittedAddresses: new AddressRanges(allowedAddresses),
      holder: { operatorId, environment },
      tenant: { operatorId, environment },
      quotas: quotasOf(stored, environment, defaults),
    }
  }
