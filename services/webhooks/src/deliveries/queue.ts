// Records.

import { type Db, sql } from '@backoffice/service-runtime'
import type { SealedTable } from '@backoffice/team-desk'
import { isEventToSeal, type Place, type Vault } from '@backoffice/vault'

import { type EndpointColumns, endpointColumns } from '../endpoints/records.ts'
import type { AttemptedDelivery, AttemptOutcome, RecordedChange } from './delivery.ts'

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
export const storedBody = (vault: Vault, { id, type }: { readonly id: string; readonly type: string }, body: Buffer) =>
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
    -- Materialized, because the leases would be counted again for each delivery that is picked.
    with allowed as materialized (
      select a.id, a.url, greatest(0, a.concurrency - (
        select count(*) from (
          select from delivery d where d.endpoint_id = a.id and d.leased_until is not null and not ${isFree(leaseMs)}
          -- With a limit an index scan is planned: unlike one with a bitmap, it clears out what earlier leases left.
          limit a.concurrency
        ) held))::integer as slots
      from ${sql.unnest('a', endpoints, 'id text, url text, concurrency int')}
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

/** An attempt that was made: its lease, its start and its outcome. */
export interface MadeAttempt {
  readonly lease: Pick<Lease, 'deliveryId' | 'endpointId' | 'leaseId' | 'type' | 'url' | 'number'>
  readonly startedAt: Date
  readonly outcome: AttemptOutcome
}

/** An attempt with its change of the delivery; null when it changes nothing. */
export interface RecordedAttempt extends MadeAttempt {
  readonly change: RecordedChange | null
}

const attemptFacts = `
  started_at timestamptz, duration_ms int, url text, response_status int, response_head text, sealed_response_head text,
  error text
`
const attemptColumns = `delivery_id text, number int, ${attemptFacts}` as const
const changeColumns = 'state text, next_attempt_at timestamptz, finished_at timestamptz'

/** PostgreSQL's time. Other replicas judge by it when a retry is due, and when a breaker closes. */
export async function readTime(db: Db): Promise<Date> {
  const [row] = await db<{ now: Date }>`select now() as now`
  if (row === undefined) throw new Error('PostgreSQL has no time')
  return row.now
}

/** Another transaction has locked the row. */
export type LockedElsewhere = 'busy'

/**
 * Locks the deliveries of attempts, by id, without waiting for any. Each is there once at most.
 * @returns no entry for a delivery that does not exist any more
 */
export async function lockDeliveries(
  db: Db,
  attempts: readonly MadeAttempt[],
): Promise<ReadonlyMap<string, AttemptedDelivery | LockedElsewhere>> {
  const leases = attempts.map(({ lease }) => lease)
  const ids = leases.map(({ deliveryId }) => deliveryId)
  const rows = await db<{ id: string } & (({ busy: false } & AttemptedDelivery) | { busy: true; held: boolean })>`
    with locked as (
      select id, state, next_attempt_at, finished_at, attempts_made, lease_id from delivery
      where id = any(${ids}::text[]) order by id for no key update skip locked
    )
    select d.id, l.id is null as busy, l.state, l.next_attempt_at, l.finished_at, l.attempts_made,
      l.lease_id is not distinct from m.lease_id as held
    from ${sql.unnest('m', leases, 'delivery_id text, lease_id text')}
    join delivery d on d.id = m.delivery_id left join locked l on l.id = d.id
  `
  return new Map(rows.map((row) => [row.id, row.busy ? 'busy' : row]))
}

/**
 * Locks the endpoints that attempts change, by id, without waiting for any. These are the endpoints with a failure, and
 * those whose breaker is not at rest.
 */
export async function lockLearners(
  db: Db,
  attempts: readonly MadeAttempt[],
): Promise<ReadonlyMap<string, EndpointColumns | LockedElsewhere>> {
  const ids = (some: readonly MadeAttempt[]) => [...new Set(some.map(({ lease }) => lease.endpointId))]
  const rows = await db<{ learnerId: string } & (EndpointColumns | { id: null })>`
    with learner as (
      select id from endpoint
      where id = any(${ids(attempts)}::text[]) and (breaker_state <> 'closed' or consecutive_failures > 0
        or id = any(${ids(attempts.filter(({ outcome }) => outcome.error !== null))}::text[]))
    ), locked as (
      select ${endpointColumns} from endpoint where id in (select id from learner)
      order by id for no key update skip locked
    )
    select learner.id as learner_id, locked.* from learner left join locked on locked.id = learner.id
  `
  return new Map(rows.map((row) => [row.learnerId, row.id === null ? 'busy' : row]))
}

/** Logs attempts, once per number, and writes the changes of their deliveries, whose rows are locked. */
export async function saveAttempts(db: Db, attempts: readonly RecordedAttempt[]): Promise<void> {
  if (attempts.length === 0) return
  const rows = attempts.map(({ lease, startedAt, outcome, change }) => ({
    ...{ ...lease, startedAt, ...outcome },
    ...storedHead(db.vault, lease.type, lease, outcome.responseHead),
    ...(change ?? { state: null, nextAttemptAt: null, finishedAt: null }),
  }))
  await db`
    with made as (
      select * from ${sql.unnest('m', rows, `${attemptColumns}, ${changeColumns}`)}
      where exists (select from delivery d where d.id = m.delivery_id)
    ), logged as (
      insert into attempt (${sql.columns(attemptColumns)}) select ${sql.columns(attemptColumns)} from made
      on conflict (delivery_id, number) do update set ${sql.assignments('excluded', attemptFacts)}
    )
    update delivery d set ${sql.assignments('m', changeColumns)}, attempts_made = d.attempts_made + 1,
      lease_id = null, leased_at = null, leased_until = null, leased_url = null,
      last_response_status = m.response_status, last_error = m.error
    from made m where d.id = m.delivery_id and m.state is not null
  `
}
