import type { Environment } from '@backoffice/contracts'
import { type Measurement, measurement } from '@backoffice/process'
import type { ReadDb } from '@backoffice/service-runtime'
import { readJudgement } from './deliveries/upkeep.ts'

const environments: readonly Environment[] = ['production', 'sandbox']

/** What waits to be delivered in each environment, and what keeps it from being. */
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
      const [backlogs, endpoints] = await Promise.all([
        db<{ environment: string; due: bigint; scheduled: bigint; oldest: number }>`
          select e.environment, count(*) filter (where next_attempt_at <= clock_timestamp()) as due,
            count(*) filter (where next_attempt_at > clock_timestamp()) as scheduled,
            greatest(0, coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0))::double precision as oldest
          from delivery d join endpoint e on e.id = d.endpoint_id
          -- Deliveries that wait for a breaker's pause are not late.
          where d.state = 'pending' and e.enabled and (e.open_until is null or e.open_until <= clock_timestamp())
          group by 1
        `,
        db<{ environment: string; breaker: string; endpoints: bigint }>`
          select environment, case when not enabled then 'disabled' when breaker_state = 'recovering' then 'half_open' else breaker_state end
            as breaker, count(*) as endpoints
          from endpoint where url is not null group by 1, 2
        `,
      ])
      const backlogOf = new Map(backlogs.map((row) => [row.environment, row]))
      const counts = new Map(endpoints.map((row) => [`${row.environment} ${row.breaker}`, Number(row.endpoints)]))
      return {
        'backoffice.deliveries.waiting': environments.flatMap((environment) => [
          { value: Number(backlogOf.get(environment)?.due ?? 0), attributes: { environment, state: 'due' } },
          {
            value: Number(backlogOf.get(environment)?.scheduled ?? 0),
            attributes: { environment, state: 'scheduled' },
          },
        ]),
        'backoffice.deliveries.oldest_due_seconds': environments.map((environment) => ({
          value: backlogOf.get(environment)?.oldest ?? 0,
          attributes: { environment },
        })),
        'backoffice.webhook.endpoints': environments.flatMap((environment) =>
          ['closed', 'open', 'half_open', 'disabled'].map((breaker) => ({
            value: counts.get(`${environment} ${breaker}`) ?? 0,
            attributes: { environment, breaker },
          })),
        ),
      }
    },
  })

/** Whether what the services published has deliveries. */
export const deliveryJudgement = (db: ReadDb): Measurement =>
  measurement({
    gauges: {
      'backoffice.deliveries.missing': {
        description: 'Published events that have no delivery, though they should by now',
      },
      'backoffice.deliveries.unjudged_seconds': {
        description: 'How long ago an event was published at most that was not looked for among the deliveries yet',
        unit: 's',
      },
    },
    async read() {
      const rows = await readJudgement(db)
      return {
        'backoffice.deliveries.missing': rows.map(({ service, missing }) => ({
          value: missing,
          attributes: { publisher: service },
        })),
        'backoffice.deliveries.unjudged_seconds': rows.map(({ service, unjudgedSeconds }) => ({
          value: unjudgedSeconds,
          attributes: { publisher: service },
        })),
      }
    },
  })
