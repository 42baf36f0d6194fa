import type { Environment, ProviderRecord, Scope, StoredAmount } from '@backoffice/contracts'
import { grantsShownMax, Rejection } from '@backoffice/contracts'
import type { SecretBox } from '@backoffice/database/vault'
import { AddressRanges } from '@backoffice/process/addresses'
import { type Db, type ReadDb, sql, withIsoTimes } from '@backoffice/service-runtime'
import { type KnownKey, providerKeys } from '../keys.ts'
import type { DayUse } from '../operators/operator.ts'
import { isOfToday, type Tenant, useColumns } from '../operators/records.ts'

/** What the team has agreed with a provider. */
export interface ProviderTerms {
  readonly name: string
  readonly stakesPerMinute: number
  readonly othersPerMinute: number
  /** Empty: any address. */
  readonly allowedAddresses: readonly string[]
  readonly suspendedAt: Date | null
}

export interface ProviderRow extends ProviderTerms {
  readonly id: string
  readonly createdAt: Date
}

const columns = sql`id, name, stakes_per_minute, others_per_minute, allowed_addresses, suspended_at, created_at`

export async function isProviderNameTaken(db: ReadDb, name: string): Promise<boolean> {
  return (await db`select from provider where name = ${name}`).length > 0
}

export async function addProvider(db: Db, provider: Omit<ProviderRow, 'suspendedAt'>): Promise<void> {
  const { id, name, stakesPerMinute, othersPerMinute, allowedAddresses, createdAt } = provider
  await db`
    insert into provider (id, name, stakes_per_minute, others_per_minute, allowed_addresses, created_at)
    values (${id}, ${name}, ${stakesPerMinute}, ${othersPerMinute}, ${allowedAddresses}, ${createdAt})
  `
}

/** @throws {Rejection} PROVIDER_NOT_FOUND */
export async function lockProvider(db: Db, id: string): Promise<ProviderRow> {
  const [provider] = await db<ProviderRow>`select ${columns} from provider where id = ${id} for update`
  if (provider === undefined) throw new Rejection('PROVIDER_NOT_FOUND')
  return provider
}

export async function writeTerms(db: Db, id: string, terms: ProviderTerms): Promise<void> {
  const { stakesPerMinute, othersPerMinute, allowedAddresses, suspendedAt } = terms
  await db`
    update provider set stakes_per_minute = ${stakesPerMinute}, others_per_minute = ${othersPerMinute},
      allowed_addresses = ${allowedAddresses}, suspended_at = ${suspendedAt}::timestamptz
    where id = ${id}
  `
}

/** Providers by name, after one. */
export function findProviders(db: ReadDb, after: string, limit: number): Promise<ProviderRow[]> {
  return db<ProviderRow>`select ${columns} from provider where name > ${after} order by name limit ${limit}`
}

/** @param name or id, or a key of the provider @throws {Rejection} PROVIDER_NOT_FOUND */
export async function readProvider(db: ReadDb, name: string): Promise<ProviderRow> {
  const isThis = providerKeys.shape.test(name)
    ? sql`id = (select provider_id from provider_key where key = ${name})`
    : name.startsWith('prv_')
      ? sql`id = ${name}`
      : sql`name = ${name}`
  const [provider] = await db<ProviderRow>`select ${columns} from provider where ${isThis}`
  if (provider === undefined) throw new Rejection('PROVIDER_NOT_FOUND')
  return provider
}

const keysShownMax = 50

/** Providers as the team sees them: with their brands and keys, never a secret. */
export async function showProviders(db: ReadDb, providers: readonly ProviderRow[]): Promise<ProviderRecord[]> {
  const ids = providers.map(({ id }) => id)
  const [grants, keys] = await Promise.all([
    db<GrantRow>`
      select g.provider_id, g.brand_id, b.name as brand_name, o.id as operator_id, o.name as operator_name, b.environment,
        case when g.suspended_at is null then 'active' else 'suspended' end as status, g.granted_at
      from unnest(${ids}::text[]) p (id), lateral (
        select * from provider_brand where provider_id = p.id order by granted_at desc, brand_id limit ${grantsShownMax}
      ) g join brand b on b.id = g.brand_id join operator o on o.id = b.operator_id
      order by o.name, b.environment, g.brand_id
    `,
    // Those in use first, then the newest.
    db<KeyRow>`
      select k.provider_id, k.key, k.environment, k.created_at, k.revoked_at, u.last_used_at
      from unnest(${ids}::text[]) p (id), lateral (
        select * from provider_key where provider_id = p.id order by revoked_at nulls first, created_at desc limit ${keysShownMax}
      ) k left join credential_use u on u.credential_id = k.id
      order by k.environment, k.created_at
    `,
  ])
  return providers.map(({ suspendedAt, allowedAddresses, ...provider }) => ({
    ...withIsoTimes(provider),
    allowedAddresses: [...allowedAddresses],
    status: suspendedAt === null ? 'active' : 'suspended',
    grants: grants.filter(({ providerId }) => providerId === provider.id).map(withoutProvider),
    keys: keys.filter(({ providerId }) => providerId === provider.id).map(withoutProvider),
  }))
}

type GrantRow = { readonly providerId: string; readonly grantedAt: Date } & Omit<
  ProviderRecord['grants'][number],
  'grantedAt'
>
interface KeyRow {
  readonly providerId: string
  readonly key: string
  readonly environment: Environment
  readonly createdAt: Date
  readonly revokedAt: Date | null
  readonly lastUsedAt: Date | null
}
const withoutProvider = <Row extends { readonly providerId: string }>({ providerId: _providerId, ...row }: Row) =>
  withIsoTimes(row)

/** A brand, and whether it is granted already. @throws {Rejection} OPERATOR_NOT_FOUND */
export async function readGrant(
  db: ReadDb,
  { providerId, brandId }: { readonly providerId: string; readonly brandId: string },
): Promise<{ readonly environment: Environment; readonly grant: 'active' | 'suspended' | null }> {
  const [found] = await db<{ environment: Environment; grant: 'active' | 'suspended' | null }>`
    select b.environment,
      case when g.brand_id is null then null when g.suspended_at is null then 'active' else 'suspended' end as grant
    from brand b left join provider_brand g on g.brand_id = b.id and g.provider_id = ${providerId}
    where b.id = ${brandId}
  `
  if (found === undefined) throw new Rejection('OPERATOR_NOT_FOUND')
  return found
}

/** Suspending a grant again keeps the time of the first suspension. */
export async function writeGrant(
  db: Db,
  grant: { readonly providerId: string; readonly brandId: string; readonly suspended: boolean; readonly now: Date },
): Promise<void> {
  const { providerId, brandId, suspended, now } = grant
  const suspendedAt = suspended ? now : null
  await db`
    insert into provider_brand as g (provider_id, brand_id, suspended_at, granted_at)
    values (${providerId}, ${brandId}, ${suspendedAt}::timestamptz, ${now}::timestamptz)
    on conflict (provider_id, brand_id) do update set
      suspended_at = case when excluded.suspended_at is null then null else coalesce(g.suspended_at, excluded.suspended_at) end
  `
}

interface NewKey {
  readonly id: string
  readonly providerId: string
  readonly environment: Environment
  readonly key: string
  readonly sealedSecret: string
  readonly createdAt: Date
}

export async function addKey(db: Db, { id, providerId, environment, key, sealedSecret, createdAt }: NewKey) {
  await db`
    insert into provider_key (id, provider_id, environment, key, sealed_secret, created_at)
    values (${id}, ${providerId}, ${environment}, ${key}, ${sealedSecret}, ${createdAt}::timestamptz)
  `
}

/** @throws {Rejection} CREDENTIAL_NOT_FOUND */
export async function lockKey(
  db: Db,
  key: string,
): Promise<{ readonly name: string; readonly environment: Environment; readonly revokedAt: Date | null }> {
  const [found] = await db<{ name: string; environment: Environment; revokedAt: Date | null }>`
    select p.name, k.environment, k.revoked_at from provider_key k join provider p on p.id = k.provider_id
    where k.key = ${key} for update of k
  `
  if (found === undefined) throw new Rejection('CREDENTIAL_NOT_FOUND')
  return found
}

export async function writeRevocation(db: Db, key: string, revokedAt: Date): Promise<void> {
  await db`update provider_key set revoked_at = ${revokedAt}::timestamptz where key = ${key} and revoked_at is null`
}

/** Seals under the newest master key what is under another. @returns how many there were */
export async function rewrapKeys(db: Db, secrets: SecretBox): Promise<number> {
  const keys = await db<{ id: string; sealedSecret: string }>`
    select id, sealed_secret from provider_key order by id for update
  `
  const rewrapped = keys.flatMap(({ id, sealedSecret: old }) => {
    const sealedSecret = secrets.rewrap(old, id)
    return sealedSecret === null ? [] : [{ id, sealedSecret }]
  })
  await db`
    update provider_key k set sealed_secret = n.sealed_secret
    from ${sql.unnest('n', rewrapped, 'id text, sealed_secret text')} where k.id = n.id
  `
  return rewrapped.length
}

/** What the key of a request stands for. */
export interface StoredKey {
  readonly credentialId: string
  readonly key: string
  readonly sealedSecret: string
  readonly revoked: boolean
  readonly environment: Environment
  readonly providerId: string
  readonly stakesPerMinute: number
  readonly othersPerMinute: number
  readonly allowedAddresses: readonly string[]
}

/** @returns in the order of the keys; undefined for a key that does not exist */
export async function findKeys(db: ReadDb, keys: readonly string[]): Promise<readonly (StoredKey | undefined)[]> {
  const rows = await db<StoredKey>`
    select k.id as credential_id, k.key, k.sealed_secret, k.revoked_at is not null as revoked, k.environment,
      p.id as provider_id, p.stakes_per_minute, p.others_per_minute, p.allowed_addresses
    from provider_key k join provider p on p.id = k.provider_id
    where k.key = any(${keys}::text[])
  `
  const found = new Map(rows.map((row) => [row.key, row]))
  return keys.map((key) => found.get(key))
}

/** The same, opened. */
export interface KnownProviderKey
  extends KnownKey,
    Pick<StoredKey, 'providerId' | 'environment' | 'stakesPerMinute' | 'othersPerMinute'> {}

export const openKey =
  (secrets: SecretBox) =>
  ({ sealedSecret, allowedAddresses, ...stored }: StoredKey): KnownProviderKey => ({
    ...stored,
    secret: secrets.decrypt(sealedSecret, stored.credentialId),
    permittedAddresses: new AddressRanges(allowedAddresses),
    holder: { providerId: stored.providerId, environment: stored.environment },
  })

/** A brand that a provider may call. */
export interface GrantedBrand {
  readonly scope: Scope
  /** Stakes are refused with this; what was begun is settled. */
  readonly stakesRefusedWith: 'OPERATOR_SUSPENDED' | 'PROVIDER_SUSPENDED' | undefined
  /** By all stakes of the brand, of whichever provider. */
  readonly usedToday: DayUse
}

export interface GrantName {
  readonly providerId: string
  readonly brandId: string
}

/** @returns in the order asked for; null for a brand that is not granted to the provider */
export async function findGrants(db: ReadDb, asked: readonly GrantName[]): Promise<readonly (GrantedBrand | null)[]> {
  type Row = GrantName & DayUse & Scope & { operatorSuspended: boolean; providerSuspended: boolean }
  const rows = await db<Row>`
    select g.provider_id, b.id as brand_id, b.operator_id, b.environment, b.currency, b.time_zone, ${useColumns},
      o.suspended_at is not null as operator_suspended,
      coalesce(p.suspended_at, g.suspended_at) is not null as provider_suspended
    from ${sql.unnest('a', asked, 'provider_id text, brand_id text')}
    join provider_brand g on g.provider_id = a.provider_id and g.brand_id = a.brand_id
    join provider p on p.id = g.provider_id join brand b on b.id = g.brand_id join operator o on o.id = b.operator_id
    left join daily_use u on u.operator_id = b.id and u.environment = b.environment and ${isOfToday}
  `
  const found = new Map(rows.map((row) => [nameOf(row), grantOf(row)]))
  return asked.map((name) => found.get(nameOf(name)) ?? null)

  function grantOf({
    operatorId,
    brandId,
    environment,
    currency,
    timeZone,
    day,
    bytes,
    rows,
    ...row
  }: Row): GrantedBrand {
    const suspended = row.providerSuspended ? ('PROVIDER_SUSPENDED' as const) : undefined
    return {
      scope: { operatorId, brandId, environment, currency, timeZone },
      stakesRefusedWith: row.operatorSuspended ? 'OPERATOR_SUSPENDED' : suspended,
      usedToday: { day, bytes, rows },
    }
  }
}

export const nameOf = ({ providerId, brandId }: GrantName): string => `${providerId} ${brandId}`

/** What stakes have stored today, by brands: with the operators that they belong to. */
export const findPlayUses = (db: ReadDb): Promise<(Tenant & DayUse)[]> => db<Tenant & DayUse>`
  select b.operator_id, u.environment, ${useColumns}
  from daily_use u join brand b on b.id = u.operator_id where ${isOfToday}
`

/** What the stakes of a brand may store in a day. */
export type PlayQuotas = Readonly<Record<Environment, StoredAmount>>
