// Records.

import { type EventMessage, publicEventKinds } from '@backoffice/contracts'
import { isEventToSeal, type Place, type Vault } from '@backoffice/database/vault'
import { newId } from '@backoffice/process'
import { countStoredBytes, type Db, type Fragment, type Reaction, sql } from '@backoffice/service-runtime'
import type { SealedTable } from '@backoffice/team-access'
import { endpointId } from '../endpoints/endpoint.ts'
import { type EndpointColumns, endpointColumns, ensureEndpoints } from '../endpoints/records.ts'

/**
 * Stores a delivery for each public event. Scheduling happens in PostgreSQL, never in the stream: a delayed redelivery
 * there counts against a limit for all messages, so a few dead receivers would hold up everybody.
 */
export const scheduleDelivery = (nudge: (endpointId: string) => void): Reaction => {
  /** Endpoints that have rows. Nobody deletes one, but a restored database may lack it: then storing fails. */
  const known = new Set<string>()
  return {
    name: deliveryReaction,
    kinds: publicEventKinds,
    async react(received, { db, now }) {
      const unknown = received.map(({ event }) => event).filter((event) => !known.has(endpointId(event)))
      const deliveries = received.map((one) => ({ ...one, receivedAt: now }))
      await Promise.all([ensureEndpoints(db, unknown, now), insertDeliveries(db, deliveries)]).catch((fault) => {
        known.clear()
        throw fault
      })
    },
    committed(received) {
      for (const id of new Set(received.map(({ event }) => endpointId(event)))) {
        known.add(id)
        nudge(id)
      }
    },
  }
}

/** The name of the reaction that stores deliveries. It names the durable consumer, so it never changes. */
export const deliveryReaction = 'schedule-delivery'

/** An event on its way to the endpoint of its operator and environment. */
interface NewDelivery {
  readonly event: EventMessage
  readonly traceparent: string | null
  readonly receivedAt: Date
  /** Not to be sent yet, whatever the state of its endpoint. */
  readonly withheld?: boolean
}

const newColumns = `
  id text, endpoint_id text, event_id text, type text, brand_id text, body bytea, event_created_at timestamptz,
  received_at timestamptz, trace_parent text, withheld bool
`

/**
 * Stores the deliveries of events whose endpoints have rows. They are due at once, or withheld when nothing is sent to
 * the endpoint. An event that is stored already is left as it is. Every attempt sends the bytes that are written here.
 */
export async function insertDeliveries(db: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  const rows = deliveries.map(({ event, traceparent, receivedAt, withheld = false }) => {
    const body = Buffer.from(JSON.stringify(event))
    countStoredBytes('delivery', event, body.length)
    const { id: eventId, type, brandId, createdAt: eventCreatedAt } = event
    const delivery = { id: newId('dlv'), endpointId: endpointId(event), eventId, type, brandId }
    return {
      ...{ ...delivery, eventCreatedAt, receivedAt, withheld, traceParent: traceparent },
      body: storedBody(db.vault, delivery, body),
    }
  })
  await db`
    insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at,
      next_attempt_at, finished_at, trace_parent)
    select r.id, r.endpoint_id, r.event_id, r.type, r.brand_id, r.body,
      case when s.sends then 'pending' else 'withheld' end, r.event_created_at, r.received_at,
      case when s.sends then now() end, case when not s.sends then r.received_at end, r.trace_parent
    from ${sql.unnest('r', rows, newColumns)}
    -- A delivery without an endpoint is refused, and not left out.
    left join endpoint e on e.id = r.endpoint_id
    cross join lateral (
      select not r.withheld and e.enabled and e.url is not null
        and exists (select from secret where endpoint_id = e.id) as sends
    ) s
    order by r.endpoint_id, r.event_id
    on conflict (endpoint_id, event_id) do nothing
  `
}

// A delivery is a copy of its event, and a receiver may reply with what it was sent. Both are sealed where the event has
// personal data that must be.

const placeOfBody = (deliveryId: string): Place => ({ column: 'delivery.body', row: deliveryId })

interface AttemptKey {
  readonly deliveryId: string
  readonly number: number
}
const placeOfHead = ({ deliveryId, number }: AttemptKey): Place => ({
  column: 'attempt.sealed_response_head',
  row: `${deliveryId} ${number}`,
})

/** @param type of the event */
const storedBody = (vault: Vault, { id, type }: { readonly id: string; readonly type: string }, body: Buffer) =>
  isEventToSeal(type) ? vault.sealBytes(body, placeOfBody(id)) : body

/** @throws when it was sealed under a master key that is not known */
export const openBody = (
  vault: Vault,
  { deliveryId, body }: { readonly deliveryId: string; readonly body: Buffer },
): Buffer => vault.openBytes(body, placeOfBody(deliveryId))

export interface StoredHead {
  readonly responseHead: string | null
  readonly sealedResponseHead: string | null
}

/** @param type of the event */
export const storedHead = (vault: Vault, type: string, attempt: AttemptKey, head: string | null): StoredHead =>
  head !== null && vault.seals && isEventToSeal(type)
    ? { responseHead: null, sealedResponseHead: vault.seal(head, placeOfHead(attempt)) }
    : { responseHead: head, sealedResponseHead: null }

export const openHead = (vault: Vault, attempt: AttemptKey, stored: StoredHead): string | null =>
  stored.sealedResponseHead === null ? stored.responseHead : vault.open(stored.sealedResponseHead, placeOfHead(attempt))

export const sealedTables: readonly SealedTable[] = [
  {
    table: 'delivery',
    key: 'id text',
    reads: 'type text, body bytea',
    writes: 'body bytea',
    renew({ id, type, body }, vault) {
      const renewed = isEventToSeal(type) ? vault.renewBytes(body, placeOfBody(id)) : null
      return renewed === null ? null : { body: renewed }
    },
  },
  {
    table: 'attempt',
    key: 'delivery_id text, number int',
    reads: 'response_head text, sealed_response_head text',
    writes: 'response_head text, sealed_response_head text',
    renew({ responseHead, sealedResponseHead, ...attempt }, vault) {
      // An attempt does not say what was sent, so every response from before is sealed.
      if (sealedResponseHead === null)
        return responseHead !== null && vault.seals
          ? { responseHead: null, sealedResponseHead: vault.seal(responseHead, placeOfHead(attempt)) }
          : null
      const renewed = vault.renew(sealedResponseHead, placeOfHead(attempt))
      return renewed === null ? null : { responseHead: null, sealedResponseHead: renewed }
    },
  },
]

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
 * Ends the leases that were lost with their process: logs their attempts with an unknown outcome. Replicas share leases
 * and due times, so PostgreSQL's clock judges them. A lease that ends later than it can was taken before that clock was
 * set back, and would last for all of that step. A delivery that another transaction has locked is left for the next time.
 */
export async function endLostLeases(db: Db, leaseMs: number): Promise<void> {
  await db`
    -- Materialized, because a plan that begins with the deliveries would read all of them.
    with expired as materialized (
      select * from lease
      where leased_until <= now() or leased_until > now() + make_interval(secs => ${leaseMs / 1_000 + 1})
    ), lost as (
      select expired.* from expired join delivery d on d.id = expired.delivery_id for no key update of d skip locked
    ), counted as (
      update delivery d set attempts_total = greatest(d.attempts_total, lost.number) from lost where d.id = lost.delivery_id
    ), logged as (
      insert into attempt (delivery_id, number, started_at, duration_ms, url, error)
      select delivery_id, number, leased_at, extract(epoch from leased_until - leased_at)::numeric * 1000, url,
        'The service stopped before the answer was known.'
      from lost
      on conflict do nothing
    )
    delete from lease l using lost
    where l.endpoint_id = lost.endpoint_id and l.delivery_id = lost.delivery_id and l.lease_id = lost.lease_id
  `
}

/**
 * The deliveries of an endpoint that somebody holds: few, so they are read once and not looked up for each delivery. In
 * order, so that an index scan is planned: unlike one with a bitmap, it clears out what earlier leases left.
 */
const heldOf = (endpointId: Fragment) =>
  sql`array(select delivery_id from lease where endpoint_id = ${endpointId} order by delivery_id)`

/**
 * Locks the endpoints that have something due, so that replicas take from one endpoint one after another and its limit
 * of deliveries under way holds over all of them. It does not wait for locks, so that an endpoint that is locked for
 * long does not delay the others.
 * @param only these endpoints; null looks at all
 * @returns the locked rows, the ids of those that another transaction has locked, and PostgreSQL's time
 */
export async function lockDueEndpoints(
  db: Db,
  { only, endpointsMax }: { only: readonly string[] | null; endpointsMax: number },
): Promise<{ locked: EndpointColumns[]; busy: string[]; now: Date }> {
  const maySend = sql`enabled and url is not null and (open_until is null or open_until <= now())`
  // One delivery of each endpoint is looked at: with EXISTS all that are due may be read.
  const isDue = sql`
    ${maySend} and exists (select from secret s where s.endpoint_id = e.id)
    and (
      select true from delivery d where d.endpoint_id = e.id and d.state = 'pending' and d.next_attempt_at <= now()
        and d.id <> all(${heldOf(sql`e.id`)})
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

interface LeaseRequest {
  readonly endpoints: readonly { readonly id: string; readonly url: string; readonly concurrency: number }[]
  /** How many this replica can take now. */
  readonly deliveriesMax: number
  readonly leaseId: string
  readonly leaseMs: number
}

/**
 * Leases due deliveries of locked endpoints. Half of an endpoint's slots take the longest due, half the newest: a
 * backlog drains, and a new event does not wait behind it. When this replica cannot take all, endpoints take turns.
 */
export async function leaseDeliveries(db: Db, request: LeaseRequest): Promise<Lease[]> {
  const { endpoints, deliveriesMax, leaseId, leaseMs } = request
  const sent = sql`
    d.id as delivery_id, d.event_id, d.brand_id, d.type, d.body, d.trace_parent, d.attempts_total + 1 as number
  `
  return db<Lease>`
    -- Materialized, because the leases would be read again for each delivery that is picked.
    with allowed as materialized (
      select a.id as endpoint_id, a.url, h.held, greatest(0, a.concurrency - cardinality(h.held)) as slots
      from ${sql.unnest('a', endpoints, 'id text, url text, concurrency int')}
      cross join lateral (select ${heldOf(sql`a.id`)} as held offset 0) h
    ), picked as (
      select candidate.*, allowed.*, row_number() over (partition by allowed.endpoint_id order by candidate.turn) as place
      from allowed, lateral (
        with oldest as (
          select ${sent}, d.next_attempt_at as at from delivery d
          where d.endpoint_id = allowed.endpoint_id and d.state = 'pending' and d.next_attempt_at <= now()
            and d.id <> all(allowed.held)
          order by d.next_attempt_at limit allowed.slots - allowed.slots / 2
        ), newest as (
          select ${sent}, d.received_at as at from delivery d
          where d.endpoint_id = allowed.endpoint_id and d.state = 'pending' and d.next_attempt_at <= now()
            and d.id <> all(allowed.held) and d.id not in (select delivery_id from oldest)
          order by d.received_at desc limit allowed.slots / 2
        )
        select *, row_number() over (order by at) * 2 as turn from oldest
        union all select *, row_number() over (order by at desc) * 2 + 1 from newest
      ) candidate
    ), taken as materialized (
      select delivery_id, endpoint_id, event_id, brand_id, type, body, trace_parent, number, url, slots
      from picked order by place limit ${deliveriesMax}
    ), leased as (
      insert into lease (endpoint_id, delivery_id, lease_id, number, url, leased_at, leased_until)
      select endpoint_id, delivery_id, ${leaseId}, number, url, now(), now() + make_interval(secs => ${leaseMs / 1_000})
      from taken
    )
    select taken.*, ${leaseId}::text as lease_id from taken
  `
}
