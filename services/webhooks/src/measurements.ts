import { type Measurement, measurement, type ReadDb } from '@backoffice/service-runtime'

/** What waits to be delivered, and what keeps it from being. */
export const deliveryBacklog = (db: ReadDb): Measurement =>
  measurement({
    gauges: {
      'backoffice.deliveries.waiting': { description: 'Deliveries that wait: due now, or scheduled for later' },
      'backoffice.deliveries.oldest_due_seconds': {
        description: 'How long the oldest due delivery has been due',
        unit: 's',
      },
      'backoffice.webhook.endpoints': { description: 'Endpoints with a URL, by the state of their circuit breaker' },
    },
    async read() {
      const [[backlog], endpoints] = await Promise.all([
        db<{ due: bigint; scheduled: bigint; oldest: number }>`
          select count(*) filter (where next_attempt_at <= clock_timestamp()) as due,
            count(*) filter (where next_attempt_at > clock_timestamp()) as scheduled,
            greatest(0, coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0))::double precision as oldest
          from delivery d join endpoint e on e.id = d.endpoint_id
          -- Deliveries that wait for a breaker's pause are not late.
          where d.state = 'pending' and e.enabled and (e.open_until is null or e.open_until <= clock_timestamp())
        `,
        db<{ breaker: string; endpoints: bigint }>`
          select case when not enabled then 'disabled' when breaker_state = 'recovering' then 'half_open' else breaker_state end
            as breaker, count(*) as endpoints
          from endpoint where url is not null group by 1
        `,
      ])
      const counts = new Map(endpoints.map((row) => [row.breaker, Number(row.endpoints)]))
      return {
        'backoffice.deliveries.waiting': [
          { value: Number(backlog?.due ?? 0), attributes: { state: 'due' } },
          { value: Number(backlog?.scheduled ?? 0), attributes: { state: 'scheduled' } },
        ],
        'backoffice.deliveries.oldest_due_seconds': [{ value: backlog?.oldest ?? 0 }],
        'backoffice.webhook.endpoints': ['closed', 'open', 'half_open', 'disabled'].map((breaker) => ({
          value: counts.get(breaker) ?? 0,
          attributes: { breaker },
        })),
      }
    },
  })
