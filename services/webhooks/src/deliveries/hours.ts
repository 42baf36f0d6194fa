// Records.

import { arrivalsMax, type Environment } from '@backoffice/contracts'
import type { Db, ReadDb } from '@backoffice/service-runtime'

/** So long after it came an event is counted: by then it has arrived in time, or not. No transaction lasts longer than a minute. */
const countedAfterSeconds = 60 * (arrivalsMax.minutesInTime + 1)
const countedMax = 1_000

/**
 * Counts the next deliveries by the hour of their event and their endpoint, each once: in the order of their ids, up to the
 * first that is too young. What was withheld is passed over, since nobody was to be sent it. One of several replicas counts.
 * @returns whether there are more
 */
export async function countArrivals(db: Db, most = countedMax): Promise<boolean> {
  const [counted] = await db<{ hasMore: boolean }>`
    with position as materialized (
      select through from delivery_position for no key update skip locked
    ), page as materialized (
      select d.*, bool_or(d.received_at > statement_timestamp() - make_interval(secs => ${countedAfterSeconds}::int))
        over (order by d.id) as is_young
      from position p cross join lateral (
        select id, endpoint_id, type, state, event_created_at, received_at, finished_at from delivery
        where id > p.through order by id limit ${most}::int
      ) d
    ), counted as (
      insert into delivery_hour as h (hour, endpoint_id, events, in_time)
      select date_trunc('hour', event_created_at, 'UTC'), endpoint_id, count(*), count(*) filter (
        where state = 'delivered' and finished_at <= event_created_at + make_interval(mins => ${arrivalsMax.minutesInTime}::int)
      )
      from page where not is_young and state <> 'withheld' and type <> 'webhook.test' group by 1, 2 order by 1, 2
      on conflict (hour, endpoint_id) do update set events = h.events + excluded.events, in_time = h.in_time + excluded.in_time
    ), moved as (
      update delivery_position set through = last.id
      from (select max(id) as id from page where not is_young) last where last.id is not null
    )
    select count(*) filter (where not is_young) >= ${most} as has_more from page
  `
  return counted?.hasMore ?? false
}

/** By hour, of all operators of an environment or of some, as far as there were events: those with most late ones first. */
export const readArrivals = (
  db: ReadDb,
  environment: Environment,
  operatorIds: readonly string[] | null,
  hours: readonly Date[],
) =>
  db<{ operatorId: string; events: number[]; inTime: number[] }>`
    select e.operator_id, array_agg(coalesce(h.events, 0) order by asked.hour) as events,
      array_agg(coalesce(h.in_time, 0) order by asked.hour) as in_time
    from endpoint e cross join unnest(${hours}::timestamptz[]) as asked (hour)
    -- Hour by hour: without a limit it may be planned as a join with all that is kept.
    left join lateral (
      select events, in_time from delivery_hour where hour = asked.hour and endpoint_id = e.id limit 1
    ) h on true
    where e.environment = ${environment} and (${operatorIds}::text[] is null or e.operator_id = any(${operatorIds}::text[]))
    group by e.operator_id having sum(h.events) > 0 order by sum(h.events - h.in_time) desc, sum(h.events) desc, e.operator_id
  `
