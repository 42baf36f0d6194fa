import { randomBytes } from 'node:crypto'
import { type Environment, pendingCountedMax, Rejection, refuseUnlessSeen } from '@backoffice/contracts'
import type { SecretBox } from '@backoffice/database/vault'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import {
  type BreakerSettings,
  type Endpoint,
  type EndpointKey,
  endpointId,
  expiryAfterRotation,
  type SigningSecret,
} from './endpoint.ts'

/** A row of the table: one per operator and environment. */
export interface EndpointRow
  extends Pick<Endpoint, 'url' | 'enabled' | 'disabledAt' | 'disabledReason' | 'updatedAt'>,
    Pick<Endpoint['breaker'], 'consecutiveFailures' | 'failingSince' | 'openUntil' | 'openings'> {
  readonly id: string
  readonly operatorId: string
  readonly environment: Environment
  readonly breakerState: Endpoint['breaker']['state']
  readonly concurrency: number | null
  readonly lastFaultAt: Date | null
  readonly lastFaultStatus: number | null
  readonly lastFault: string | null
}

export async function findEndpoint(db: ReadDb, key: EndpointKey): Promise<EndpointRow | null> {
  const [row = null] = await db<EndpointRow>`select ${rowColumns} from endpoint where id = ${endpointId(key)}`
  return row
}

/**
 * Reads an endpoint for somebody who decides about it, and locks its row until the transaction ends. Foreign keys may still
 * refer to it, so new deliveries do not wait.
 * @throws {Rejection} OPERATOR_NOT_FOUND, NOT_AS_SEEN
 */
export async function lockSeen(
  db: Db,
  { operatorId, environment, seen }: EndpointKey & { readonly seen: { readonly url: string | null } },
): Promise<EndpointRow> {
  const key = { operatorId, environment }
  const [row] = await db<EndpointRow>`
    select ${rowColumns} from endpoint where id = ${endpointId(key)} for no key update
  `
  if (row === undefined) throw new Rejection('OPERATOR_NOT_FOUND')
  refuseUnlessSeen(key, seen, { url: row.url ?? null })
  return row
}

/** Locks an endpoint that is disabled and for which something waits. It does not wait for locks. @returns its id */
export async function lockDisabledEndpoint(db: Db): Promise<string | null> {
  // As a value and not with EXISTS, which may be planned as a join with everything that waits.
  const [row] = await db<{ id: string }>`
    select e.id from endpoint e
    where not e.enabled and (
      select true from delivery d where d.endpoint_id = e.id and d.state = 'pending' order by d.next_attempt_at limit 1)
    limit 1 for no key update skip locked
  `
  return row?.id ?? null
}

/** Makes the rows of endpoints that have none, in the order of their ids. An event may come before a URL was set. */
export async function ensureEndpoints(db: Db, keys: readonly EndpointKey[], now: Date): Promise<void> {
  if (keys.length === 0) return
  const rows = keys.map((key) => ({ ...key, id: endpointId(key) }))
  await db`
    insert into endpoint (id, operator_id, environment, created_at, updated_at)
    select distinct on (k.id) k.id, k.operator_id, k.environment, ${now}::timestamptz, ${now}::timestamptz
    from ${sql.unnest('k', rows, 'id text, operator_id text, environment text')}
    order by k.id
    on conflict do nothing
  `
}

/** An endpoint's row as statements read it. */
export type EndpointColumns = Omit<EndpointRow, 'operatorId' | 'environment'>

/** The columns that attempts change. */
const learnedColumns = `
  enabled bool, disabled_at timestamptz, disabled_reason text, breaker_state text, consecutive_failures int,
  failing_since timestamptz, open_until timestamptz, openings int, concurrency int,
  last_fault_at timestamptz, last_fault_status int, last_fault text, updated_at timestamptz
`
export const endpointColumns = sql.columns(`id text, url text, ${learnedColumns}`)
const rowColumns = sql.columns(`id text, operator_id text, environment text, url text, ${learnedColumns}`)

/** An endpoint as the domain sees it. A row without a concurrency gets that of the settings. */
export function toEndpoint(row: EndpointColumns, { concurrencyMax }: BreakerSettings): Endpoint {
  return {
    url: row.url,
    enabled: row.enabled,
    disabledAt: row.disabledAt,
    disabledReason: row.disabledReason,
    breaker: {
      state: row.breakerState,
      consecutiveFailures: row.consecutiveFailures,
      failingSince: row.failingSince,
      openUntil: row.openUntil,
      openings: row.openings,
      concurrency: Math.min(row.concurrency ?? concurrencyMax, concurrencyMax),
    },
    lastFault:
      row.lastFaultAt === null
        ? null
        : { at: row.lastFaultAt, responseStatus: row.lastFaultStatus, error: row.lastFault ?? '' },
    updatedAt: row.updatedAt,
  }
}

function toColumns({ breaker, lastFault, ...endpoint }: Endpoint, { concurrencyMax }: BreakerSettings) {
  const { state: breakerState, concurrency, ...failures } = breaker
  return {
    ...{ ...endpoint, breakerState, ...failures },
    concurrency: concurrency >= concurrencyMax ? null : concurrency,
    lastFaultAt: lastFault?.at ?? null,
    lastFaultStatus: lastFault?.responseStatus ?? null,
    lastFault: lastFault?.error ?? null,
  }
}

/** Writes what the team has changed of an endpoint, its URL too. @returns the row as it is then */
export async function changeEndpoint(
  db: Db,
  row: EndpointRow,
  endpoint: Endpoint,
  settings: BreakerSettings,
): Promise<EndpointRow> {
  const changed = { ...row, ...toColumns(endpoint, settings) }
  await db`
    update endpoint e set ${sql.assignments('r', `url text, ${learnedColumns}`)}
    from ${sql.unnest('r', [changed], `id text, url text, ${learnedColumns}`)} where e.id = r.id
  `
  return changed
}

/** Writes changed endpoints by id. Their rows are locked. */
export async function saveEndpoints(
  db: Db,
  endpoints: ReadonlyMap<string, Endpoint>,
  settings: BreakerSettings,
): Promise<void> {
  if (endpoints.size === 0) return
  const rows = [...endpoints].map(([id, endpoint]) => ({ id, ...toColumns(endpoint, settings) }))
  await db`
    update endpoint e set ${sql.assignments('r', learnedColumns)}
    from ${sql.unnest('r', rows, `id text, ${learnedColumns}`)} where e.id = r.id
  `
}

/** An endpoint with what waits for it, and its rank in the list: 0 fails, 1 recovers, 2 works or is off. */
export interface ListedEndpoint extends EndpointColumns {
  readonly operatorId: string
  readonly environment: Environment
  readonly rank: number
  readonly pending: number
  readonly oldestPendingAt: Date | null
}

/** The first rank of those that do not fail. */
const worksFrom = 2
export const isFailing = ({ rank }: Pick<ListedEndpoint, 'rank'>): boolean => rank < worksFrom

/** Nothing is sent to a disabled endpoint, so its breaker says nothing. It fails if it was failing when it was disabled. */
const rank = sql`
  case when not enabled then case when failing_since is null then 2 else 0 end
    else case breaker_state when 'open' then 0 when 'recovering' then 1 else 2 end end
`

/** Stands for no failure, and sorts behind the beginning of any. */
const never = 'infinity'

/** In milliseconds, as a cursor has it. */
const since = sql`coalesce(date_trunc('milliseconds', failing_since), ${never})`

/** Where the list goes on: behind the endpoint with this rank, failing since then. */
interface ListPlace {
  readonly rank: number
  readonly failingSince: string
  readonly id: string
}

const beginning: ListPlace = { rank: -1, failingSince: '-infinity', id: '' }

const cursorPattern = /^([012])\/(infinity|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\/(\w{1,64}\/\w{1,16})$/

/** The cursor of the page that begins after an endpoint. */
export const cursorOf = ({ rank, failingSince, id }: Pick<ListedEndpoint, 'rank' | 'failingSince' | 'id'>): string =>
  `${rank}/${failingSince?.toISOString() ?? never}/${id}`

/** @returns undefined for what is no cursor of this list */
export function placeOf(cursor: string | undefined): ListPlace | undefined {
  if (cursor === undefined) return beginning
  const [, rank, failingSince = '', id = ''] = cursorPattern.exec(cursor) ?? []
  if (rank === undefined || (failingSince !== never && Number.isNaN(Date.parse(failingSince)))) return undefined
  return { rank: Number(rank), failingSince, id }
}

export interface EndpointFilter {
  readonly environment: Environment
  /** Only those that fail. */
  readonly failing: boolean
  readonly place: ListPlace
  readonly limit: number
}

/** Endpoints that have a URL: those that fail first, and among them the one that has failed for the longest time. */
export function listEndpoints(db: ReadDb, filter: EndpointFilter): Promise<ListedEndpoint[]> {
  const { environment, failing, place, limit } = filter
  return db<ListedEndpoint>`
    select ${endpointColumns}, operator_id, environment, rank, backlog.pending, backlog.oldest_pending_at
    from (
      select e.*, place.rank, place.since
      from endpoint e cross join lateral (select ${rank} as rank, ${since} as since) place
      where e.environment = ${environment} and e.url is not null
        and (not ${failing}::boolean or place.rank < ${worksFrom})
        and (place.rank, place.since, e.id) > (${place.rank}::integer, ${place.failingSince}::timestamptz, ${place.id})
      order by place.rank, place.since, e.id limit ${limit}
    ) listed
    cross join lateral (
      select
        (select count(*)::integer from (
          select from delivery d where d.endpoint_id = listed.id and d.state = 'pending' limit ${pendingCountedMax}
        ) counted) as pending,
        (select d.received_at from delivery d where d.endpoint_id = listed.id and d.state = 'pending'
          order by d.received_at limit 1) as oldest_pending_at
    ) backlog
    order by rank, since, id
  `
}

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

/** Gives the secrets of endpoints. Those of one are decrypted when its first attempt needs them, once for all that follow. */
export function openSecrets(
  sealed: readonly SealedSecret[],
  box: SecretBox,
): (endpointId: string) => readonly SigningSecret[] {
  const byEndpoint = Map.groupBy(sealed, ({ endpointId }) => endpointId)
  const opened = new Map<string, readonly SigningSecret[]>()
  return (endpointId) => {
    const secrets = opened.get(endpointId) ?? decryptSecrets(byEndpoint.get(endpointId) ?? [], box)
    opened.set(endpointId, secrets)
    return secrets
  }
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
  const formers = await db<{ id: bigint; expiresAt: Date | null }>`
    select id, expires_at from secret
    where endpoint_id = ${endpointId} and (expires_at is null or expires_at > ${now}::timestamptz)
  `
  const ending = formers.map(({ id, expiresAt }) => ({
    id,
    expiresAt: expiryAfterRotation(expiresAt, { now, overlapMs }),
  }))
  // Only one secret may be without an end, so the end of the former one is written first.
  await db`
    update secret s set expires_at = f.expires_at
    from ${sql.unnest('f', ending, 'id bigint, expires_at timestamptz')} where s.id = f.id
  `
  const secret = newWebhookSecret()
  await db`
    insert into secret (endpoint_id, sealed, created_at)
    values (${endpointId}, ${box.encrypt(secret, endpointId)}, ${now}::timestamptz)
  `
  const ends = ending.map(({ expiresAt }) => Number(expiresAt))
  return { secret, formerExpiresAt: ends.length === 0 ? null : new Date(Math.max(...ends)) }
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
      from ${sql.unnest('r', renewed, 'id bigint, sealed text, rewrapped text')}
      where s.id = r.id and s.sealed = r.sealed
    `
    rewrapped += rows.length
    if (rows.length < rewrapBatchMax) return rewrapped
  }
}
