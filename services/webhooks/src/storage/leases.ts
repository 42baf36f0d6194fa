import { type Db, sql, unnest } from '@backoffice/service-runtime'
import { type EndpointColumns, endpointColumns } from './endpoints.ts'

export interface Lease {
  readonly deliveryId: string
  readonly leaseId: string
  readonly endpointId: string
  readonly eventId: string
  readonly brandId: string
  /** Of the event. */
  readonly type: string
  /** As it is stored: see `openBody`. */
  readonly body: Buffer
  readonly url: string
  readonly traceParent: string | null
  /** The number of this attempt, counted over the delivery's whole life. */
  readonly number: number
  /** How many deliveries of its endpoint could be leased. If that many were, there may be more. */
  readonly slots: number
}

/**
 * Whether nobody holds a delivery. Replicas share leases and due times, so PostgreSQL's clock judges them. A lease that
 * ends later than it can was taken before that clock was set back, and would last for all of that step.
 */
const isFree = (leaseMs: number) => sql`(
  d.leased_until is null or d.leased_until <= now()
  or d.leased_until > now() + make_interval(secs => ${leaseMs / 1_000 + 1})
)`

/**
 * Locks the endpoints that have something due, so that replicas take from one endpoint one after another and its limit
 * of deliveries under way holds over all of them. It does not wait for locks, so that an endpoint that is locked for
 * long does not delay the others.
 * @param only these endpoints; null looks at all
 * @returns the locked rows, the ids of those that another transaction has locked, and PostgreSQL's time
 */
export async function lockDueEndpoints(
  db: Db,
  { only, endpointsMax, leaseMs }: { only: readonly string[] | null; endpointsMax: number; leaseMs: number },
): Promise<{ locked: EndpointColumns[]; busy: string[]; now: Date }> {
  const maySend = sql`enabled and url is not null and (open_until is null or open_until <= now())`
  // One delivery of each endpoint is looked at: with EXISTS all that are due may be read.
  const isDue = sql`
    ${maySend} and exists (select from secret s where s.endpoint_id = e.id)
    and (
      select true from delivery d where d.endpoint_id = e.id and d.state = 'pending' and d.next_attempt_at <= now()
        and ${isFree(leaseMs)}
      order by d.next_attempt_at limit 1)
  `
  const lock = sql`
    locked as (
      select ${endpointColumns} from endpoint where id in (select id from due) and ${maySend}
      for no key update skip locked
    )
    select due.id as due_id, now() as now, locked.* from due left join locked on locked.id = due.id
  `
  type Row = { dueId: string; now: Date } & (EndpointColumns | { id: null })
  const rows =
    only === null
      ? // When there are more than one look takes, each look takes others.
        await db<Row>`
          with due as (select e.id from endpoint e where ${isDue} order by random() limit ${endpointsMax}), ${lock}
        `
      : await db<Row>`
          with due as (select e.id from endpoint e where e.id = any(${only}::text[]) and ${isDue}), ${lock}
        `
  return {
    locked: rows.filter((row) => row.id !== null),
    busy: rows.filter(({ id }) => id === null).map(({ dueId }) => dueId),
    now: rows[0]?.now ?? new Date(0),
  }
}

export interface LeaseRequest {
  readonly endpoints: readonly { readonly id: string; readonly url: string; readonly concurrency: number }[]
  /** How many this replica can take now. */
  readonly deliveriesMax: number
  readonly leaseId: string
  readonly leaseMs: number
}

/**
 * Leases due deliveries of locked endpoints. Half of an endpoint's slots take the longest due, half the newest: a
 * backlog drains, and a new event does not wait behind it. When this replica cannot take all, endpoints take turns. If
 * a lease was lost with its process, its attempt is logged with an unknown outcome and made again.
 */
export async function leaseDeliveries(db: Db, request: LeaseRequest): Promise<Lease[]> {
  const { endpoints, deliveriesMax, leaseId, leaseMs } = request
  return db<Lease>`
    with allowed as (
      select a.id, a.url, greatest(0, a.concurrency - (
        select count(*) from delivery d where d.endpoint_id = a.id and d.leased_until is not null and not ${isFree(leaseMs)}))::integer as slots
      from ${unnest('a', endpoints, 'id text, url text, concurrency int')}
    ), picked as (
      select candidate.id, allowed.url, allowed.slots, row_number() over (partition by allowed.id order by candidate.turn) as turn
      from allowed, lateral (
        with oldest as (
          select d.id, row_number() over (order by d.next_attempt_at) * 2 as turn from delivery d
          where d.endpoint_id = allowed.id and d.state = 'pending' and d.next_attempt_at <= now()
            and ${isFree(leaseMs)}
          order by d.next_attempt_at limit allowed.slots - allowed.slots / 2
        ), newest as (
          select d.id, row_number() over (order by d.received_at desc) * 2 + 1 as turn from delivery d
          where d.endpoint_id = allowed.id and d.state = 'pending' and d.next_attempt_at <= now()
            and ${isFree(leaseMs)}
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
    update delivery d set lease_id = ${leaseId}, leased_at = now(),
      leased_until = now() + make_interval(secs => ${leaseMs / 1_000}),
      leased_url = taken.url, attempts_total = d.attempts_total + 1
    from taken where d.id = taken.id
    returning d.id as delivery_id, d.lease_id, d.endpoint_id, d.event_id, d.brand_id, d.type, d.body, d.leased_url as url, d.trace_parent,
      d.attempts_total as number, taken.slots
  `
}
