import { Rejection } from '@backoffice/contracts'
import { assignments, columnNames, type Db, type ReadDb, unnest } from '@backoffice/service-runtime'
import type { BreakerSettings } from '../domain/breaker.ts'
import { type Endpoint, type EndpointKey, endpointId } from '../domain/endpoint.ts'
import type { EndpointRow } from './entities.ts'
import { records } from './records.ts'

export async function findEndpoint(db: ReadDb, key: EndpointKey): Promise<EndpointRow | null> {
  const { em, EndpointEntity } = await records(db)
  return em.findOne(EndpointEntity, { id: endpointId(key) })
}

/**
 * Reads an endpoint and locks its row until the transaction ends. Foreign keys may still refer to it, so new deliveries
 * do not wait.
 * @throws {Rejection} OPERATOR_NOT_FOUND
 */
export async function lockEndpoint(db: Db, key: EndpointKey): Promise<EndpointRow> {
  await db`select from endpoint where id = ${endpointId(key)} for no key update`
  const row = await findEndpoint(db, key)
  if (row === null) throw new Rejection('OPERATOR_NOT_FOUND')
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
  const rows = keys.map((key) => ({ ...key, id: endpointId(key) }))
  await db`
    insert into endpoint (id, operator_id, environment, created_at, updated_at)
    select distinct on (k.id) k.id, k.operator_id, k.environment, ${now}::timestamptz, ${now}::timestamptz
    from ${unnest('k', rows, 'id text, operator_id text, environment text')}
    order by k.id
    on conflict do nothing
  `
}

/** An endpoint's row as statements read it. */
export type EndpointColumns = Omit<EndpointRow, 'operatorId' | 'environment' | 'createdAt'>

/** The columns that attempts change. */
const learnedColumns = `
  enabled bool, disabled_at timestamptz, disabled_reason text, breaker_state text, consecutive_failures int,
  failing_since timestamptz, open_until timestamptz, openings int, concurrency int, updated_at timestamptz
`
export const endpointColumns = columnNames(`id text, url text, ${learnedColumns}`)

/** An endpoint as the domain sees it. A row without a concurrency gets that of the settings. */
export function toEndpoint(row: EndpointColumns, { concurrencyMax }: BreakerSettings): Endpoint {
  return {
    url: row.url ?? null,
    enabled: row.enabled,
    disabledAt: row.disabledAt ?? null,
    disabledReason: row.disabledReason ?? null,
    breaker: {
      state: row.breakerState,
      consecutiveFailures: row.consecutiveFailures,
      failingSince: row.failingSince ?? null,
      openUntil: row.openUntil ?? null,
      openings: row.openings,
      concurrency: Math.min(row.concurrency ?? concurrencyMax, concurrencyMax),
    },
    updatedAt: row.updatedAt,
  }
}

function toColumns({ breaker, ...endpoint }: Endpoint, { concurrencyMax }: BreakerSettings) {
  const { state: breakerState, concurrency, ...failures } = breaker
  return { ...endpoint, breakerState, ...failures, concurrency: concurrency >= concurrencyMax ? null : concurrency }
}

/** Writes a changed endpoint into its row when the transaction commits. */
export async function changeEndpoint(
  db: Db,
  row: EndpointRow,
  endpoint: Endpoint,
  settings: BreakerSettings,
): Promise<void> {
  const em = await db.em()
  em.assign(row, toColumns(endpoint, settings))
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
    update endpoint e set ${assignments('r', learnedColumns)}
    from ${unnest('r', rows, `id text, ${learnedColumns}`)} where e.id = r.id
  `
}
