import { type Db, unnest } from '@backoffice/service-runtime'
import type { AttemptedDelivery, AttemptOutcome, RecordedChange } from '../domain/attempt.ts'
import { type EndpointColumns, endpointColumns } from './endpoints.ts'
import type { Lease } from './leases.ts'

/** An attempt that was made: its lease, when it began, and what came of it. */
export interface MadeAttempt {
  readonly lease: Pick<Lease, 'deliveryId' | 'endpointId' | 'leaseId' | 'url' | 'number'>
  readonly startedAt: Date
  readonly outcome: AttemptOutcome
}

/** An attempt with what it makes of its delivery; null: nothing. */
export interface RecordedAttempt extends MadeAttempt {
  readonly change: RecordedChange | null
}

/** Locked, and so somebody else's at the moment. */
export type Busy = 'busy'

/**
 * Locks the deliveries of attempts, by id, without waiting for any. Each is there once at most.
 * @returns nothing for a delivery that is gone
 */
export async function lockDeliveries(
  db: Db,
  attempts: readonly MadeAttempt[],
): Promise<ReadonlyMap<string, AttemptedDelivery | Busy>> {
  const leases = attempts.map(({ lease }) => lease)
  const rows = await db<{ id: string; busy: boolean } & AttemptedDelivery>`
    with made as (
      select * from ${unnest('m', leases, { deliveryId: 'text', leaseId: 'text' })}
    ), locked as (
      select id, state, next_attempt_at, finished_at, attempts_made, lease_id from delivery
      where id in (select delivery_id from made) order by id for no key update skip locked
    )
    select d.id, l.id is null as busy, l.state, l.next_attempt_at, l.finished_at, l.attempts_made,
      l.lease_id is not distinct from m.lease_id as held
    from made m join delivery d on d.id = m.delivery_id left join locked l on l.id = d.id
  `
  return new Map(rows.map(({ id, busy, ...delivery }) => [id, busy ? 'busy' : delivery]))
}

/**
 * Locks the endpoints that learn from attempts, by id, without waiting for any: those with a failure, and those whose
 * breaker is not at rest.
 */
export async function lockLearners(
  db: Db,
  attempts: readonly MadeAttempt[],
): Promise<ReadonlyMap<string, EndpointColumns | Busy>> {
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

/** Logs attempts, once per number, and writes what they make of their deliveries. Those rows are locked. */
export async function saveAttempts(db: Db, attempts: readonly RecordedAttempt[]): Promise<void> {
  if (attempts.length === 0) return
  const rows = attempts.map(({ lease, startedAt, outcome, change }) => ({ ...lease, startedAt, ...outcome, ...change }))
  await db`
    with made as (
      select * from ${unnest('m', rows, madeColumns)} where exists (select from delivery d where d.id = m.delivery_id)
    ), logged as (
      insert into attempt (delivery_id, number, started_at, duration_ms, url, response_status, response_head, error)
      select delivery_id, number, started_at, duration_ms, url, response_status, response_head, error from made
      on conflict (delivery_id, number) do update set started_at = excluded.started_at,
        duration_ms = excluded.duration_ms, response_status = excluded.response_status,
        response_head = excluded.response_head, error = excluded.error
    )
    update delivery d set state = m.state, next_attempt_at = m.next_attempt_at, finished_at = m.finished_at,
      attempts_made = d.attempts_made + 1, lease_id = null, leased_at = null, leased_until = null, leased_url = null,
      last_response_status = m.response_status, last_error = m.error
    from made m where d.id = m.delivery_id and m.state is not null
  `
}

const madeColumns = {
  deliveryId: 'text',
  number: 'int',
  startedAt: 'timestamptz',
  durationMs: 'int',
  url: 'text',
  responseStatus: 'int',
  responseHead: 'text',
  error: 'text',
  state: 'text',
  nextAttemptAt: 'timestamptz',
  finishedAt: 'timestamptz',
} as const
