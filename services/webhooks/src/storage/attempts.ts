import { assignments, columnNames, type Db, unnest } from '@backoffice/service-runtime'
import type { AttemptedDelivery, AttemptOutcome, RecordedChange } from '../domain/attempt.ts'
import { type EndpointColumns, endpointColumns } from './endpoints.ts'
import type { Lease } from './leases.ts'
import { storedHead } from './sealed-copies.ts'

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
export type Busy = 'busy'

/**
 * Locks the deliveries of attempts, by id, without waiting for any. Each is there once at most.
 * @returns no entry for a delivery that does not exist any more
 */
export async function lockDeliveries(
  db: Db,
  attempts: readonly MadeAttempt[],
): Promise<ReadonlyMap<string, AttemptedDelivery | Busy>> {
  const leases = attempts.map(({ lease }) => lease)
  const ids = leases.map(({ deliveryId }) => deliveryId)
  const rows = await db<{ id: string; busy: boolean } & AttemptedDelivery>`
    with locked as (
      select id, state, next_attempt_at, finished_at, attempts_made, lease_id from delivery
      where id = any(${ids}::text[]) order by id for no key update skip locked
    )
    select d.id, l.id is null as busy, l.state, l.next_attempt_at, l.finished_at, l.attempts_made,
      l.lease_id is not distinct from m.lease_id as held
    from ${unnest('m', leases, 'delivery_id text, lease_id text')}
    join delivery d on d.id = m.delivery_id left join locked l on l.id = d.id
  `
  return new Map(rows.map(({ id, busy, ...delivery }) => [id, busy ? 'busy' : delivery]))
}

/**
 * Locks the endpoints that attempts change, by id, without waiting for any. These are the endpoints with a failure, and
 * those whose breaker is not at rest.
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
      select * from ${unnest('m', rows, `${attemptColumns}, ${changeColumns}`)}
      where exists (select from delivery d where d.id = m.delivery_id)
    ), logged as (
      insert into attempt (${columnNames(attemptColumns)}) select ${columnNames(attemptColumns)} from made
      on conflict (delivery_id, number) do update set ${assignments('excluded', attemptFacts)}
    )
    update delivery d set ${assignments('m', changeColumns)}, attempts_made = d.attempts_made + 1,
      lease_id = null, leased_at = null, leased_until = null, leased_url = null,
      last_response_status = m.response_status, last_error = m.error
    from made m where d.id = m.delivery_id and m.state is not null
  `
}
