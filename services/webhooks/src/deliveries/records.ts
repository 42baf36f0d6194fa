import {
  type DeliveryState,
  type DeliveryStory,
  type DeliverySummary,
  deliveriesCountedMax,
  type Environment,
  type EventMessage,
  environments,
  type Input,
  type operations,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { type Db, type Fragment, type ReadDb, sql, type WithTimes } from '@backoffice/service-runtime'
import { endpointId } from '../endpoints/endpoint.ts'
import type { AttemptOutcome } from './delivery.ts'
import { openBody, openHead, type StoredHead } from './schedule-delivery.ts'

/** Stores a test delivery together with its one attempt. */
export async function insertTestDelivery(
  db: Db,
  test: {
    readonly event: EventMessage
    readonly body: Uint8Array
    readonly url: string
    readonly startedAt: Date
    readonly outcome: AttemptOutcome
  },
): Promise<void> {
  const { event, body, url, startedAt, outcome } = test
  const finishedAt = new Date(startedAt.getTime() + outcome.durationMs)
  await db`
    with stored as (
      insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, attempts_made, attempts_total,
        event_created_at, received_at, finished_at, last_response_status, last_error)
      values (${newId('dlv')}, ${endpointId(event)}, ${event.id}, ${event.type}, ${event.brandId}, ${Buffer.from(body)}::bytea,
        ${outcome.error === null ? 'delivered' : 'failed'}, 1, 1, ${event.createdAt}::timestamptz,
        ${event.createdAt}::timestamptz, ${finishedAt}::timestamptz, ${outcome.responseStatus}::integer, ${outcome.error})
      returning id
    )
    insert into attempt (delivery_id, number, started_at, duration_ms, url, response_status, response_head, error)
    select id, 1, ${startedAt}::timestamptz, ${outcome.durationMs}::integer, ${url}, ${outcome.responseStatus}::integer,
      ${outcome.responseHead}, ${outcome.error} from stored
  `
}

/** The most that one statement withholds. */
const withheldMax = 1_000

/**
 * Withholds a page of what waits for an endpoint, until a resend or a replay. What another transaction has locked is left
 * for the next page.
 * @returns how many that were
 */
export async function withholdDeliveries(db: Db, endpointId: string, now: Date): Promise<number> {
  const [row] = await db<{ withheld: number }>`
    with withheld as (
      update delivery set state = 'withheld', next_attempt_at = null, finished_at = ${now}::timestamptz
      where id = any(array(
        select id from delivery where endpoint_id = ${endpointId} and state = 'pending'
        order by next_attempt_at limit ${withheldMax} for no key update skip locked
      )) returning true
    )
    select count(*)::integer as withheld from withheld
  `
  return row?.withheld ?? 0
}

/** Counts the messages that no delivery could be made of. */
export async function countSetAside(db: ReadDb): Promise<number> {
  const [row] = await db<{ messages: number }>`select count(*)::integer as messages from set_aside_message`
  return row?.messages ?? 0
}

/** Counts what waits for an endpoint. */
export async function findBacklog(
  db: ReadDb,
  endpointId: string,
): Promise<{ readonly pending: number; readonly oldestAt: Date | null }> {
  const [row] = await db<{ pending: number; oldestAt: Date | null }>`
    select count(*)::integer as pending, min(received_at) as oldest_at from delivery
    where endpoint_id = ${endpointId} and state = 'pending'
  `
  return row ?? { pending: 0, oldestAt: null }
}

/** A delivery as lists show it. */
export type DeliveryRow = WithTimes<
  DeliverySummary,
  'eventCreatedAt' | 'receivedAt' | 'nextAttemptAt' | 'heldUntil' | 'finishedAt'
>

const deliveryColumns = sql`
  d.id, d.event_id, d.type, e.operator_id, e.environment, d.brand_id, d.state, d.attempts_total as attempts,
  d.last_response_status, d.last_error, d.event_created_at, d.received_at, d.next_attempt_at, d.finished_at,
  case when d.state = 'pending' and e.open_until > greatest(d.next_attempt_at, now()) then e.open_until end as held_until
`

type DeliveryPage = Input<typeof operations.webhooks.listDeliveries>
type DeliveryFilter = Input<typeof operations.webhooks.countDeliveries>

/** It comes after every id, so the first page begins there. */
const afterAll = '~'

/** Each is named in its statement, so that a prepared plan may use an index that has no others. */
const isIn: Readonly<Record<DeliveryState, Fragment>> = {
  pending: sql`d.state = 'pending'`,
  delivered: sql`d.state = 'delivered'`,
  failed: sql`d.state = 'failed'`,
  withheld: sql`d.state = 'withheld'`,
}

const environmentsOf = ({ environment }: DeliveryFilter): readonly Environment[] =>
  environment === undefined ? environments : [environment]

function matching(filter: DeliveryFilter): Fragment {
  const { type = null, since = null, until = null, answer } = filter
  const matches = sql`
    (${type}::text is null or d.type = ${type})
    and d.received_at >= coalesce(${since}::timestamptz, '-infinity')
    and d.received_at < coalesce(${until}::timestamptz, 'infinity')
  `
  if (answer === undefined) return matches
  if (answer === 'noAnswer') return sql`${matches} and d.last_response_status is null and d.last_error is not null`
  const least = 100 * Number(answer[0])
  return sql`${matches} and d.last_response_status >= ${least}::integer and d.last_response_status < ${least + 100}::integer`
}

/**
 * Newest first: by the time of their arrival, which an index has for each endpoint. Of all operators, whatever their state
 * or delivered, as nearly all are, by their ids, which are ordered by time too. The last one of a page is where the next
 * begins.
 */
export async function listDeliveries(db: ReadDb, page: DeliveryPage): Promise<DeliveryRow[]> {
  const { operatorId = null, answer, state = answer && 'undelivered', after, limit } = page
  // The answer to what was delivered is always a 2xx.
  if (answer !== undefined && state === 'delivered') return []
  const environments = environmentsOf(page)
  const matches = matching(page)
  if (operatorId === null && (state === undefined || state === 'delivered'))
    return db<DeliveryRow>`
      select ${deliveryColumns} from delivery d join endpoint e on e.id = d.endpoint_id
      where d.id < ${after ?? afterAll} and ${state === undefined ? sql`true` : isIn[state]} and ${matches}
        and e.environment = any(${environments}::text[])
      order by d.id desc limit ${limit}
    `
  const place =
    after === undefined
      ? sql``
      : sql`and (d.received_at, d.id) < (select last.received_at, last.id from delivery last where last.id = ${after})`
  // Of each state by itself: an index has it in the order of the list.
  const those = (inState: Fragment) => sql`(
    select * from delivery d where d.endpoint_id = e.id and ${inState} and ${matches} ${place}
    order by d.received_at desc, d.id desc limit ${limit}
  )`
  const found =
    state === 'undelivered'
      ? sql`${those(isIn.pending)} union all ${those(isIn.failed)}`
      : those(state === undefined ? sql`true` : isIn[state])
  return db<DeliveryRow>`
    select ${deliveryColumns} from endpoint e cross join lateral (${found}) d
    where e.environment = any(${environments}::text[]) and (${operatorId}::text is null or e.operator_id = ${operatorId})
    order by d.received_at desc, d.id desc limit ${limit}
  `
}

/** Of each state that is not delivered, up to so many as a page says. */
export async function countDeliveries(db: ReadDb, filter: DeliveryFilter) {
  const { operatorId = null } = filter
  const count = (state: 'pending' | 'failed' | 'withheld') => sql`(
    select count(*)::integer from (
      select from endpoint e cross join lateral (
        select from delivery d where d.endpoint_id = e.id and ${isIn[state]} and ${matching(filter)}
        limit ${deliveriesCountedMax}
      ) d
      where e.environment = any(${environmentsOf(filter)}::text[])
        and (${operatorId}::text is null or e.operator_id = ${operatorId})
      limit ${deliveriesCountedMax}
    ) counted
  )`
  const [row] = await db<{ pending: number; failed: number; withheld: number }>`
    select ${count('pending')} as pending, ${count('failed')} as failed, ${count('withheld')} as withheld
  `
  return row ?? { pending: 0, failed: 0, withheld: 0 }
}

/** The id of a delivery by its own id or its event's, which is looked for endpoint by endpoint: there the index has it. */
const deliveryId = (id: string) => sql`coalesce(
  (select id from delivery where id = ${id}),
  (select found.id from endpoint e cross join lateral (
    select d.id from delivery d where d.endpoint_id = e.id and d.event_id = ${id} limit 1
  ) found limit 1))`

type AttemptRow = WithTimes<DeliveryStory['attemptLog'][number], 'startedAt'>

type StoredAttempt = AttemptRow & StoredHead

export interface DeliveryStoryRow extends DeliveryRow {
  readonly body: Buffer
  /** Until when the endpoint's breaker is open. */
  readonly openUntil: Date | null
  readonly attemptLog: readonly AttemptRow[]
}

/** By the delivery's own id or its event's. */
export async function findDelivery(db: ReadDb, id: string): Promise<DeliveryStoryRow | null> {
  const [row] = await db<DeliveryRow & { body: Buffer; openUntil: Date | null }>`
    select ${deliveryColumns}, d.body, e.open_until from delivery d join endpoint e on e.id = d.endpoint_id
    where d.id = ${deliveryId(id)}
  `
  if (row === undefined) return null
  const attempts = await db<StoredAttempt>`
    select number, started_at, duration_ms, url, response_status, response_head, sealed_response_head, error
    from attempt where delivery_id = ${row.id} order by number
  `
  const attemptLog = attempts.map(({ sealedResponseHead, ...attempt }) => {
    const head = { responseHead: attempt.responseHead, sealedResponseHead }
    return { ...attempt, responseHead: openHead(db.vault, { deliveryId: row.id, number: attempt.number }, head) }
  })
  const body = openBody(db.vault, { deliveryId: row.id, body: row.body })
  return { ...row, body, attemptLog }
}

/** Makes a delivery due now with all its attempts before it, whatever its state. @returns null when there is none */
export async function rescheduleDelivery(
  db: Db,
  id: string,
): Promise<(DeliveryRow & { readonly sends: boolean }) | null> {
  const [row] = await db<DeliveryRow & { sends: boolean }>`
    with changed as (
      update delivery set state = 'pending', attempts_made = 0, next_attempt_at = now(), finished_at = null
      where id = ${deliveryId(id)}
      returning *
    )
    select ${deliveryColumns}, e.enabled and e.url is not null as sends from changed d join endpoint e on e.id = d.endpoint_id
  `
  return row ?? null
}

/**
 * The same for several of one endpoint, as far as they are in one of these states.
 * @returns how many that were
 */
export async function rescheduleDeliveries(
  db: Db,
  {
    endpointId,
    ids,
    states,
  }: { readonly endpointId: string; readonly ids: readonly string[]; readonly states: readonly DeliveryState[] },
): Promise<number> {
  const [row] = await db<{ scheduled: number }>`
    with chosen as materialized (
      select id from delivery
      where id = any(${ids}::text[]) and endpoint_id = ${endpointId} and state = any(${states}::text[])
      order by id for no key update
    ), changed as (
      update delivery d set state = 'pending', attempts_made = 0, next_attempt_at = now(), finished_at = null
      from chosen where d.id = chosen.id
      returning true
    )
    select count(*)::integer as scheduled from changed
  `
  return row?.scheduled ?? 0
}

type ReplayRequest = Pick<
  Input<typeof operations.webhooks.replayEvents>,
  'since' | 'until' | 'states' | 'type' | 'after'
> & { readonly endpointId: string; readonly intervalMs: number }

/** What one call schedules: a statement that takes some hundred milliseconds, whatever the period. */
const replayedMax = 5_000

interface Replayed {
  readonly scheduled: number
  readonly firstAt: Date | null
  readonly lastAt: Date | null
  /** Where the next call goes on; null when there is no more. */
  readonly nextCursor: string | null
}

/**
 * Schedules a page of a period's deliveries again, oldest first, one every `intervalMs`, after those of the page before.
 * Those that are pending are left as they are unless `states` names them.
 */
export async function replayDeliveries(db: Db, request: ReplayRequest): Promise<Replayed> {
  const { endpointId, since, until = null, states = ['failed', 'withheld'], type = null, intervalMs, after } = request
  const interval = sql`${intervalMs}::double precision * interval '1 millisecond'`
  const place = after === undefined ? sql`` : sql`and (received_at, id) > (select received_at, id from last)`
  const [row] = await db<Replayed>`
    with last as materialized (
      select received_at, id, next_attempt_at from delivery where id = ${after ?? null} and endpoint_id = ${endpointId}
    ), page as materialized (
      select received_at, id from delivery
      where endpoint_id = ${endpointId} and state = any(${states}::text[]) and type <> 'webhook.test'
        and received_at >= ${since}::timestamptz and received_at < coalesce(${until}::timestamptz, 'infinity')
        and (${type}::text is null or type = ${type}) ${place}
      order by received_at, id limit ${replayedMax}::int
    ), chosen as (
      select id, row_number() over (order by received_at, id) - 1 as place,
        greatest(now(), (select next_attempt_at + ${interval} from last)) as start
      from page
    ), changed as (
      update delivery d set state = 'pending', attempts_made = 0, finished_at = null,
        next_attempt_at = chosen.start + chosen.place * ${interval}
      from chosen where d.id = chosen.id
      returning d.next_attempt_at
    )
    select count(*)::integer as scheduled, min(next_attempt_at) as first_at, max(next_attempt_at) as last_at,
      case when count(*) >= ${replayedMax}::int then (select id from page order by received_at desc, id desc limit 1) end
        as next_cursor
    from changed
  `
  return row ?? { scheduled: 0, firstAt: null, lastAt: null, nextCursor: null }
}
