import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import type { AttemptOutcome, DeliveryChange } from '../domain/attempt.ts'
import type { Lease } from './leases.ts'

interface LoggedAttempt {
  readonly lease: Pick<Lease, 'deliveryId' | 'url' | 'number'>
  readonly startedAt: Date
  readonly outcome: AttemptOutcome
}

/** An attempt that was made: its lease, when it began, and what came of it. */
export interface MadeAttempt extends LoggedAttempt {
  readonly lease: Pick<Lease, 'deliveryId' | 'endpointId' | 'leaseId' | 'url' | 'number'>
}

/**
 * Writes an acknowledged attempt, in one statement. Even one whose lease is long over counts: the receiver has the event.
 * @returns whether the endpoint's breaker has something to learn from it
 */
export async function recordSuccess(connection: Sql, attempt: MadeAttempt, now: Date): Promise<boolean> {
  const { lease, outcome } = attempt
  const { rows } = await sql<{ at_rest: boolean }>`
    with delivered as (
      update delivery set state = 'delivered', next_attempt_at = null, finished_at = coalesce(
          case when state = 'delivered' then finished_at end, ${now}::timestamptz),
        lease_id = null, leased_at = null, leased_until = null, leased_url = null, attempts_made = attempts_made + 1,
        last_response_status = ${outcome.responseStatus}, last_error = null
      where id = ${lease.deliveryId} returning id
    ), logged as (${insertAttempt(attempt)})
    select breaker_state = 'closed' and consecutive_failures = 0 as at_rest from endpoint where id = ${lease.endpointId}
  `.execute(connection)
  return rows[0]?.at_rest === false
}

/** The attempts of a delivery's present schedule, and whether this lease still holds it. Locks its row. */
export async function lockDelivery(
  connection: Sql,
  { deliveryId, leaseId }: Pick<Lease, 'deliveryId' | 'leaseId'>,
): Promise<{ attemptsMade: number; held: boolean } | null> {
  const { rows } = await sql<{ attemptsMade: number; held: boolean }>`
    select attempts_made as "attemptsMade", state = 'pending' and lease_id = ${leaseId} as held
    from delivery where id = ${deliveryId} for no key update
  `.execute(connection)
  return rows[0] ?? null
}

/** Writes a failed attempt. When the lease was lost meanwhile, the delivery is another's affair and only the log is written. */
export async function recordFailure(
  connection: Sql,
  attempt: MadeAttempt,
  change: DeliveryChange | null,
): Promise<void> {
  const { lease, outcome } = attempt
  await sql`
    with changed as (
      update delivery set
        state = case when ${change !== null} then ${change?.state ?? ''} else state end,
        next_attempt_at = case when ${change !== null} then ${change?.nextAttemptAt ?? null}::timestamptz else next_attempt_at end,
        finished_at = case when ${change !== null} then ${change?.finishedAt ?? null}::timestamptz else finished_at end,
        attempts_made = attempts_made + 1,
        lease_id = null, leased_at = null, leased_until = null, leased_url = null,
        last_response_status = ${outcome.responseStatus}, last_error = ${outcome.error}
      where id = ${lease.deliveryId} and lease_id = ${lease.leaseId}
    )
    ${insertAttempt(attempt)}
  `.execute(connection)
}

/** The statement that logs an attempt, once per number. */
export const insertAttempt = ({ lease, startedAt, outcome }: LoggedAttempt) => sql`
  insert into attempt (delivery_id, number, started_at, duration_ms, url, response_status, response_head, error)
  select ${lease.deliveryId}, ${lease.number}::integer, ${startedAt}::timestamptz, ${outcome.durationMs}::integer, ${lease.url},
    ${outcome.responseStatus}::integer, ${outcome.responseHead}, ${outcome.error}
  on conflict (delivery_id, number) do update set started_at = excluded.started_at, duration_ms = excluded.duration_ms,
    response_status = excluded.response_status, response_head = excluded.response_head, error = excluded.error
`
