import { durations, gauges, type Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

const attemptDuration = durations(
  'backoffice.delivery.attempt.duration_seconds',
  'Time of one attempt to deliver a webhook',
)

export function measureAttempt(outcome: { readonly durationMs: number; readonly error: string | null }): void {
  attemptDuration.record(outcome.durationMs / 1_000, { outcome: outcome.error === null ? 'delivered' : 'failed' })
}

interface Backlog {
  readonly due: string
  readonly scheduled: string
  readonly oldest: number
}

/** Measures what waits to be delivered, and what keeps it from being. Answers how to stop. */
export function measureDeliveries(connection: () => Sql): () => void {
  return gauges(
    {
      'backoffice.deliveries.waiting': { description: 'Deliveries that wait: due now, or scheduled for later' },
      'backoffice.deliveries.oldest_due_seconds': {
        description: 'For how long the oldest due delivery has been',
        unit: 's',
      },
      'backoffice.webhook.endpoints': { description: 'Endpoints with a URL, by the state of their circuit breaker' },
    },
    async () => {
      const backlog = await sql<Backlog>`
        select count(*) filter (where next_attempt_at <= clock_timestamp()) as due,
          count(*) filter (where next_attempt_at > clock_timestamp()) as scheduled,
          greatest(0, coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0))::double precision as oldest
        from delivery d join endpoint e on e.id = d.endpoint_id
        -- A breaker's pause is no backlog of ours.
        where d.state = 'pending' and e.enabled and (e.open_until is null or e.open_until <= clock_timestamp())
      `.execute(connection())
      const endpoints = await sql<{ breaker: string; count: string }>`
        select case when not enabled then 'disabled' when breaker_state = 'recovering' then 'half_open' else breaker_state end
          as breaker, count(*)
        from endpoint where url is not null group by 1
      `.execute(connection())
      const counts = new Map(endpoints.rows.map(({ breaker, count }) => [breaker, Number(count)]))
      const row = backlog.rows[0]
      return {
        'backoffice.deliveries.waiting': [
          { value: Number(row?.due ?? 0), attributes: { state: 'due' } },
          { value: Number(row?.scheduled ?? 0), attributes: { state: 'scheduled' } },
        ],
        'backoffice.deliveries.oldest_due_seconds': [{ value: row?.oldest ?? 0 }],
        'backoffice.webhook.endpoints': ['closed', 'open', 'half_open', 'disabled'].map((breaker) => ({
          value: counts.get(breaker) ?? 0,
          attributes: { breaker },
        })),
      }
    },
  )
}
