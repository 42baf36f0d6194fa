import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import type { Breaker } from '../domain/breaker.ts'
import type { SealedSecret } from './secrets.ts'

/** An endpoint that has something due and may be sent to. */
export interface DueEndpoint {
  readonly id: string
  readonly url: string
  readonly breaker: Breaker
  readonly secrets: readonly SealedSecret[]
}

export interface Lease {
  readonly deliveryId: string
  readonly leaseId: string
  readonly endpointId: string
  readonly eventId: string
  readonly body: Buffer
  readonly url: string
  readonly traceParent: string | null
  /** Of this attempt, over the delivery's whole life. */
  readonly number: number
  /** How many of its endpoint could be leased: when as many were, there may be more. */
  readonly slots: number
}

interface DueRow {
  id: string
  url: string
  breaker_state: Breaker['state']
  consecutive_failures: number
  failing_since: string | null
  open_until: string | null
  openings: number
  concurrency: number
  secrets: SealedSecret[]
}

/**
 * Locks the endpoints that have something due, so that replicas take from one endpoint one after another and its limit
 * of deliveries under way holds over all of them.
 * @param only these endpoints; null looks at all
 */
export async function lockDueEndpoints(
  connection: Sql,
  {
    only,
    endpointsMax,
    concurrencyMax,
    now,
  }: { only: readonly string[] | null; endpointsMax: number; concurrencyMax: number; now: Date },
): Promise<DueEndpoint[]> {
  const { rows } = await sql<DueRow>`
    select e.id, e.url, e.breaker_state, e.consecutive_failures, e.failing_since, e.open_until, e.openings,
      least(coalesce(e.concurrency, ${concurrencyMax}::integer), ${concurrencyMax}::integer) as concurrency,
      (select json_agg(json_build_object('sealed', s.sealed, 'createdAt', s.created_at, 'expiresAt', s.expires_at))
        from secret s where s.endpoint_id = e.id and (s.expires_at is null or s.expires_at > ${now}::timestamptz)) as secrets
    from endpoint e
    where e.enabled and e.url is not null
      and (${only === null} or e.id = any(${only ?? []}::text[]))
      and (e.open_until is null or e.open_until <= ${now}::timestamptz)
      and exists (select from secret s where s.endpoint_id = e.id)
      and exists (
        select from delivery d where d.endpoint_id = e.id and d.state = 'pending' and d.next_attempt_at <= ${now}::timestamptz
          and (d.leased_until is null or d.leased_until <= ${now}::timestamptz))
    order by e.id
    limit ${endpointsMax}
    for no key update of e
  `.execute(connection)
  return rows.map((row) => ({
    id: row.id,
    url: row.url,
    secrets: row.secrets ?? [],
    breaker: {
      state: row.breaker_state,
      consecutiveFailures: row.consecutive_failures,
      failingSince: row.failing_since === null ? null : new Date(row.failing_since),
      openUntil: row.open_until === null ? null : new Date(row.open_until),
      openings: row.openings,
      concurrency: row.concurrency,
    },
  }))
}

export interface LeaseRequest {
  readonly endpoints: readonly { readonly id: string; readonly url: string; readonly concurrency: number }[]
  /** All that this replica can take now. */
  readonly deliveriesMax: number
  readonly leaseId: string
  readonly now: Date
  readonly until: Date
}

/**
 * Leases due deliveries of locked endpoints. Half of an endpoint's slots take the longest due, half the newest: a backlog
 * drains, and a new event does not wait behind it. When this replica cannot take all, endpoints take turns.
 * A lease that was lost with its process is noted as an attempt of unknown outcome, and made again.
 */
export async function leaseDeliveries(connection: Sql, request: LeaseRequest): Promise<Lease[]> {
  const { endpoints, deliveriesMax, leaseId, now, until } = request
  const { rows } = await sql<Omit<Lease, 'leaseId'>>`
    with allowed as (
      select a.id, a.url, greatest(0, a.concurrency - (
        select count(*) from delivery d where d.endpoint_id = a.id and d.leased_until > ${now}::timestamptz))::integer as slots
      from unnest(${endpoints.map(({ id }) => id)}::text[], ${endpoints.map(({ url }) => url)}::text[],
        ${endpoints.map(({ concurrency }) => concurrency)}::integer[]) as a (id, url, concurrency)
    ), picked as (
      select candidate.id, allowed.url, allowed.slots, row_number() over (partition by allowed.id order by candidate.turn) as turn
      from allowed, lateral (
        with oldest as (
          select d.id, row_number() over (order by d.next_attempt_at) * 2 as turn from delivery d
          where d.endpoint_id = allowed.id and d.state = 'pending' and d.next_attempt_at <= ${now}::timestamptz
            and (d.leased_until is null or d.leased_until <= ${now}::timestamptz)
          order by d.next_attempt_at limit allowed.slots - allowed.slots / 2
        ), newest as (
          select d.id, row_number() over (order by d.received_at desc) * 2 + 1 as turn from delivery d
          where d.endpoint_id = allowed.id and d.state = 'pending' and d.next_attempt_at <= ${now}::timestamptz
            and (d.leased_until is null or d.leased_until <= ${now}::timestamptz)
            and d.id not in (select id from oldest)
          order by d.received_at desc limit allowed.slots / 2
        )
        select id, turn from oldest union all select id, turn from newest
      ) candidate
    ), taken as (
      select d.id, picked.url, picked.slots, d.leased_at, d.leased_until, d.leased_url, d.attempts_total from picked
      join delivery d on d.id = picked.id
      order by picked.turn limit ${deliveriesMax}
    ), interrupted as (
      insert into attempt (delivery_id, number, started_at, duration_ms, url, error)
      select id, attempts_total, leased_at, extract(epoch from leased_until - leased_at)::numeric * 1000, leased_url,
        'The service stopped before the answer was known.'
      from taken where leased_until is not null
      on conflict do nothing
    )
    update delivery d set lease_id = ${leaseId}, leased_at = ${now}::timestamptz, leased_until = ${until}::timestamptz,
      leased_url = taken.url, attempts_total = d.attempts_total + 1
    from taken where d.id = taken.id
    returning d.id as "deliveryId", d.endpoint_id as "endpointId", d.event_id as "eventId", d.body, d.leased_url as url,
      d.trace_parent as "traceParent", d.attempts_total as number, taken.slots
  `.execute(connection)
  return rows.map((row) => ({ ...row, leaseId }))
}
