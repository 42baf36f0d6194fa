import type { DeliveryState, DeliveryStory, DeliverySummary, EventMessage } from '@backoffice/contracts'
import { newId, type Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import type { AttemptOutcome } from '../domain/attempt.ts'
import { endpointId } from './endpoint-id.ts'

/**
 * Stores the delivery of an event; due at once, or withheld when its endpoint sends nothing. An event that the endpoint
 * has already is left as it is. The bytes written here are those of every attempt.
 * @returns false when there is no such endpoint yet
 */
export async function insertDelivery(
  connection: Sql,
  {
    event,
    traceParent,
    now,
  }: { readonly event: EventMessage; readonly traceParent: string | null; readonly now: Date },
): Promise<boolean> {
  const endpoint = endpointId(event)
  const { rows } = await sql<{ known: boolean }>`
    with stored as (insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at,
      next_attempt_at, finished_at, trace_parent)
    select ${newId('dlv')}, e.id, ${event.id}, ${event.type}, ${event.brandId}, ${Buffer.from(JSON.stringify(event))}::bytea,
      case when s.sends then 'pending' else 'withheld' end, ${event.createdAt}::timestamptz, ${now}::timestamptz,
      case when s.sends then ${now}::timestamptz end, case when not s.sends then ${now}::timestamptz end, ${traceParent}
    from endpoint e, lateral (
      select e.enabled and e.url is not null and exists (select from secret where endpoint_id = e.id) as sends
    ) s
    where e.id = ${endpoint}
    on conflict (endpoint_id, event_id) do nothing)
    select exists (select from endpoint where id = ${endpoint}) as known
  `.execute(connection)
  return rows[0]?.known === true
}

/** Stores a test delivery whose one attempt has been made. @returns its id */
export async function insertTestDelivery(
  connection: Sql,
  test: {
    readonly event: EventMessage
    readonly body: Uint8Array
    readonly outcome: AttemptOutcome
    readonly now: Date
  },
): Promise<string> {
  const id = newId('dlv')
  await sql`
    insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, attempts_made, attempts_total,
      event_created_at, received_at, finished_at, last_response_status, last_error)
    values (${id}, ${endpointId(test.event)}, ${test.event.id}, ${test.event.type}, ${test.event.brandId}, ${Buffer.from(test.body)}::bytea,
      ${test.outcome.error === null ? 'delivered' : 'failed'}, 1, 1, ${test.event.createdAt}::timestamptz, ${test.event.createdAt}::timestamptz,
      ${test.now}::timestamptz, ${test.outcome.responseStatus}::integer, ${test.outcome.error})
  `.execute(connection)
  return id
}

interface SummaryRow extends Omit<DeliverySummary, 'eventCreatedAt' | 'receivedAt' | 'nextAttemptAt' | 'finishedAt'> {
  // As PostgreSQL writes them.
  eventCreatedAt: string
  receivedAt: string
  nextAttemptAt: string | null
  finishedAt: string | null
}

const summaryColumns = sql`
  d.id, d.event_id as "eventId", d.type, e.operator_id as "operatorId", e.environment, d.brand_id as "brandId", d.state,
  d.attempts_total as attempts, d.last_response_status as "lastResponseStatus", d.last_error as "lastError",
  d.event_created_at as "eventCreatedAt", d.received_at as "receivedAt", d.next_attempt_at as "nextAttemptAt",
  d.finished_at as "finishedAt"
`

const iso = (date: string) => new Date(date).toISOString()
const isoOrNull = (date: string | null) => (date === null ? null : iso(date))

function toSummary(row: SummaryRow): DeliverySummary {
  const { id, eventId, type, operatorId, environment, brandId, state, attempts, lastResponseStatus, lastError } = row
  return {
    ...{ id, eventId, type, operatorId, environment, brandId, state, attempts, lastResponseStatus, lastError },
    eventCreatedAt: iso(row.eventCreatedAt),
    receivedAt: iso(row.receivedAt),
    nextAttemptAt: isoOrNull(row.nextAttemptAt),
    finishedAt: isoOrNull(row.finishedAt),
  }
}

export interface DeliveryFilter {
  readonly operatorId?: string
  readonly environment?: string
  readonly state?: DeliveryState
  readonly type?: string
  readonly since?: string
  readonly until?: string
  readonly after?: string
  readonly limit: number
}

/** Newest first. Ids are ordered by time, so the last one of a page is where the next begins. */
export async function listDeliveries(connection: Sql, filter: DeliveryFilter): Promise<DeliverySummary[]> {
  const {
    operatorId = null,
    environment = null,
    state = null,
    type = null,
    since = null,
    until = null,
    after = null,
  } = filter
  const { rows } = await sql<SummaryRow>`
    select ${summaryColumns} from delivery d join endpoint e on e.id = d.endpoint_id
    where (${operatorId}::text is null or e.operator_id = ${operatorId})
      and (${environment}::text is null or e.environment = ${environment})
      and (${state}::text is null or d.state = ${state})
      and (${type}::text is null or d.type = ${type})
      and (${since}::timestamptz is null or d.received_at >= ${since}::timestamptz)
      and (${until}::timestamptz is null or d.received_at < ${until}::timestamptz)
      and (${after}::text is null or d.id < ${after})
    order by d.id desc
    limit ${filter.limit}
  `.execute(connection)
  return rows.map(toSummary)
}

export type StoredStory = Omit<DeliveryStory, 'outcome'> & {
  readonly endpoint: {
    readonly enabled: boolean
    readonly disabledReason: string | null
    readonly openUntil: Date | null
  }
}

/** By the delivery's own id or its event's. */
export async function findDelivery(connection: Sql, id: string): Promise<StoredStory | null> {
  const { rows } = await sql<
    SummaryRow & { body: Buffer; enabled: boolean; disabled_reason: string | null; open_until: string | null }
  >`
    select ${summaryColumns}, d.body, e.enabled, e.disabled_reason, e.open_until
    from delivery d join endpoint e on e.id = d.endpoint_id
    where d.id = ${id} or d.event_id = ${id}
    order by d.id limit 1
  `.execute(connection)
  const row = rows[0]
  if (row === undefined) return null
  const log = await sql<DeliveryStory['attemptLog'][number] & { startedAt: string }>`
    select number, started_at as "startedAt", duration_ms as "durationMs", url, response_status as "responseStatus",
      response_head as "responseHead", error
    from attempt where delivery_id = ${row.id} order by number
  `.execute(connection)
  return {
    ...toSummary(row),
    attemptLog: log.rows.map((attempt) => ({ ...attempt, startedAt: iso(attempt.startedAt) })),
    body: row.body.toString('utf8'),
    endpoint: {
      enabled: row.enabled,
      disabledReason: row.disabled_reason,
      openUntil: row.open_until === null ? null : new Date(row.open_until),
    },
  }
}

/** Makes a delivery due at `now` with all its attempts before it, whatever its state. @returns null when there is none */
export async function rescheduleDelivery(
  connection: Sql,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<{ endpointId: string; summary: DeliverySummary; sends: boolean } | null> {
  const { rows } = await sql<SummaryRow & { endpointId: string; sends: boolean }>`
    with changed as (
      update delivery set state = 'pending', attempts_made = 0, next_attempt_at = ${now}::timestamptz, finished_at = null
      where id = (select id from delivery where id = ${id} or event_id = ${id} order by id limit 1)
      returning *
    )
    select ${summaryColumns}, e.id as "endpointId", e.enabled and e.url is not null as sends
    from changed d join endpoint e on e.id = d.endpoint_id
  `.execute(connection)
  const row = rows[0]
  return row === undefined ? null : { endpointId: row.endpointId, summary: toSummary(row), sends: row.sends }
}

export interface ReplayRequest {
  readonly endpointId: string
  readonly since: string
  readonly until: string | null
  readonly states: readonly DeliveryState[]
  readonly type: string | null
  readonly intervalMs: number
  readonly now: Date
}

/** Schedules a period's deliveries again, oldest first, one every `intervalMs`. Those that are waiting anyway are left alone unless named. */
export async function replayDeliveries(
  connection: Sql,
  replay: ReplayRequest,
): Promise<{ scheduled: number; firstAt: string | null; lastAt: string | null }> {
  const { rows } = await sql<{ scheduled: number; first: string | null; last: string | null }>`
    with chosen as (
      select id, row_number() over (order by event_created_at, id) - 1 as place from delivery
      where endpoint_id = ${replay.endpointId} and state = any(${replay.states}::text[]) and type <> 'webhook.test'
        and received_at >= ${replay.since}::timestamptz
        and (${replay.until}::timestamptz is null or received_at < ${replay.until}::timestamptz)
        and (${replay.type}::text is null or type = ${replay.type})
    ), changed as (
      update delivery d set state = 'pending', attempts_made = 0, finished_at = null,
        next_attempt_at = ${replay.now}::timestamptz + chosen.place * ${replay.intervalMs}::double precision * interval '1 millisecond'
      from chosen where d.id = chosen.id
      returning d.next_attempt_at
    )
    select count(*)::integer as scheduled, min(next_attempt_at) as first, max(next_attempt_at) as last from changed
  `.execute(connection)
  const row = rows[0]
  return {
    scheduled: row?.scheduled ?? 0,
    firstAt: isoOrNull(row?.first ?? null),
    lastAt: isoOrNull(row?.last ?? null),
  }
}
