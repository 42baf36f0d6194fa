import {
  type Environment,
  homologationCheckNames,
  idempotencyMemoryHours,
  Rejection,
  type Scope,
  type StoredAmount,
} from '@backoffice/contracts'
import type { AddressRanges } from '@backoffice/process/addresses'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import type { Loaded } from '@mikro-orm/postgresql'
import type { AgreedLimits, DayUse } from '../quotas/quota.ts'
import { isOfToday, type UseColumns, useColumns, useOf } from '../quotas/records.ts'
import type { BrandEntity, CredentialEntity, OperatorEntity } from './entities.ts'
import type { Proof } from './operator.ts'

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

/** How many keys of operators that may call were not used since a moment. A key that is newer does not count. */
export function countUnusedCredentials(
  db: ReadDb,
  since: Date,
): Promise<{ readonly environment: Environment; readonly unused: bigint }[]> {
  return db<{ environment: Environment; unused: bigint }>`
    select b.environment, count(*) filter (
      where coalesce(u.last_used_at, c.created_at) < ${since}::timestamptz) as unused
    from credential c join brand b on b.id = c.brand_id join operator o on o.id = b.operator_id
    left join credential_use u on u.credential_id = c.id
    where c.revoked_at is null and o.suspended_at is null
    group by b.environment
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
  const rows = await db<Omit<StoredCredential, 'scope' | 'usedToday'> & Scope & UseColumns>`
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
    rows.map(
      ({ operatorId, brandId, environment, currency, timeZone, day, bytesStored, rowsStored, ...credential }) => {
        const scope = { operatorId, brandId, environment, currency, timeZone }
        return [credential.key, { ...credential, scope, usedToday: useOf({ day, bytesStored, rowsStored }) }]
      },
    ),
  )
  return keys.map((key) => found.get(key))
}

/** The same for a request: opened, and with the quotas that hold. */
export interface KnownCredential
  extends Omit<StoredCredential, 'sealedSecret' | 'allowedAddresses' | `stored${string}PerDay`> {
  readonly secret: string
  readonly permittedAddresses: AddressRanges
  readonly quotas: StoredAmount
}

export interface OperatorProof extends Proof {
  readonly operatorId: string
}

const proofColumns = 'operator_id text, item text, first_at timestamptz, proof text, last_at timestamptz'

/** Keeps the first proof of each check, whichever replica saw it. In one order, so that two replicas cannot deadlock. */
export async function writeProofs(db: Db, proofs: readonly OperatorProof[]): Promise<void> {
  await db`
    insert into homologation_proof as known (operator_id, item, first_at, proof, last_at)
    select operator_id, item, first_at, proof, last_at from ${sql.unnest('seen', proofs, proofColumns)}
    order by operator_id collate "C", item collate "C"
    on conflict (operator_id, item) do update set
      first_at = least(known.first_at, excluded.first_at),
      proof = case when excluded.first_at < known.first_at then excluded.proof else known.proof end,
      last_at = greatest(known.last_at, excluded.last_at)
  `
}

/** The requests of an operator that were refused with RATE_LIMITED in one window. */
export interface RateRefusal {
  readonly operatorId: string
  /** When Retry-After ends. */
  readonly until: Date
  readonly firstAt: Date
  readonly lastAt: Date
}

/** How far replicas may differ about the end of one window, which lasts for a minute. */
const sameWindow = sql`abs(extract(epoch from known.until - excluded.until)) < 5`

/** Adds up what replicas refused in one window, and forgets the window before. */
export async function writeRateRefusals(db: Db, refusals: readonly RateRefusal[]): Promise<void> {
  await db`
    insert into rate_refusal as known (operator_id, until, first_at, last_at)
    select operator_id, until, first_at, last_at
    from ${sql.unnest('seen', refusals, 'operator_id text, until timestamptz, first_at timestamptz, last_at timestamptz')}
    order by operator_id collate "C"
    on conflict (operator_id) do update set
      until = greatest(known.until, excluded.until),
      first_at = case when ${sameWindow} then least(known.first_at, excluded.first_at) else excluded.first_at end,
      last_at = case when ${sameWindow} then greatest(known.last_at, excluded.last_at) else excluded.last_at end
    where ${sameWindow} or excluded.until > known.until
  `
}

/** The operators of these whose refused requests, on all replicas, came within so many milliseconds. */
export async function findObedient(
  db: ReadDb,
  operatorIds: readonly string[],
  withinMs: number,
): Promise<readonly string[]> {
  const rows = await db<{ operatorId: string }>`
    select operator_id from rate_refusal
    where operator_id = any(${operatorIds}::text[]) and last_at - first_at <= ${withinMs}::integer * interval '1 millisecond'
  `
  return rows.map(({ operatorId }) => operatorId)
}

/**
 * What is proved of an operator, in any order. That a pair was changed stands in the keys and their uses: a key that was
 * used is revoked, and one that was there already was used afterwards.
 */
export async function findProofs(db: ReadDb, operatorId: string): Promise<readonly Proof[]> {
  const rows = await db<Proof>`
    select item, first_at, proof, last_at from homologation_proof
    where operator_id = ${operatorId} and item = any(${[...homologationCheckNames]}::text[])
    union all
    (select 'keyRotated', newer_use.last_used_at, newer.key, newer_use.last_used_at
    from brand b
    join credential older on older.brand_id = b.id
    join credential_use older_use on older_use.credential_id = older.id
    join credential newer on newer.brand_id = b.id and newer.id <> older.id and newer.created_at < older.revoked_at
    join credential_use newer_use on newer_use.credential_id = newer.id and newer_use.last_used_at > older.revoked_at
    where b.operator_id = ${operatorId} and b.environment = 'sandbox'
    order by newer_use.last_used_at desc limit 1)
  `
  return [...rows, ...(await findStoredProofs(db, operatorId))]
}

/** What an operator's claims and refused requests in the sandbox prove, for as long as they are kept. */
export function findStoredProofs(db: ReadDb, operatorId: string): Promise<Proof[]> {
  const proof = sql`(array_agg(request_id order by at))[1] as proof, max(at) as last_at`
  return db<Proof>`
    select item, min(at) as first_at, ${proof}
    from claim cross join lateral (select expires_at - make_interval(hours => ${idempotencyMemoryHours}::int) as at) as begun
    join (values ('confirmDeposit', 'depositConfirmed'), ('failDeposit', 'depositFailed'),
      ('cancelWithdrawal', 'withdrawalEnded')) as proved (operation, item) using (operation)
    where operator_id = ${operatorId} and environment = 'sandbox' and status < 400
    group by item
    union all
    select item, min(at), ${proof}
    -- A signature that was used before has the code of a conflict, and a hint.
    from refused_request
    join (values ('PLAYER_ALREADY_EXISTS', 'duplicatePlayer'), ('RG_BLOCKED', 'playerBlocked'),
      ('IDEMPOTENCY_CONFLICT', 'conflict')) as proved (code, item) using (code)
    where operator_id = ${operatorId} and environment = 'sandbox' and verified and hint is null
    group by item
  `
}

/** The sandbox brands of operators without a key of production, which are those that homologation is for. */
export function findApplicants(db: ReadDb): Promise<Scope[]> {
  return db<Scope>`
    select o.id as operator_id, b.id as brand_id, b.environment, b.currency, b.time_zone
    from operator o join brand b on b.operator_id = o.id and b.environment = 'sandbox'
    where not exists (
      select from brand live join credential c on c.brand_id = live.id
      where live.operator_id = o.id and live.environment = 'production')
    order by o.id
  `
}
