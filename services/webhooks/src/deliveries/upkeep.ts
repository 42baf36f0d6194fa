import { environments, eventKinds, events, type ServiceName } from '@backoffice/contracts'
import { Loop, type Measurement, measurement } from '@backoffice/process'
import { type Db, type ReadDb, type ServiceContext, sql } from '@backoffice/service-runtime'
import { lockDisabledEndpoint } from '../endpoints/records.ts'
import { countArrivals } from './hours.ts'
import { withholdDeliveries } from './records.ts'
import { endLostLeases } from './schedule-delivery.ts'

/** An event is looked for so long after it was published: until then it may be on its way. */
const graceSeconds = 5 * 60
const pageMax = 1_000
/** Of one service. With so many nothing more is looked at: most likely none of them has come yet. */
const missingMax = 1_000

/**
 * Looks at the next events of a service that were published and ought to have come, and remembers which have no delivery.
 * Ids of events are ordered by time, so the deliveries of a page stand side by side in the index of each endpoint. One
 * of several replicas looks. Events that were published before the very first look are left out.
 */
export async function judgeEvents(
  db: Db,
  service: ServiceName,
): Promise<{ readonly missing: readonly string[]; readonly isMore: boolean }> {
  await db`
    insert into judged_event (service, published_at, event_id) values (${service}, statement_timestamp(), '')
    on conflict do nothing
  `
  const [row] = await db<{ judged: number; missing: readonly string[] }>`
    with place as materialized (
      select published_at, event_id from judged_event
      where service = ${service} and (select count(*) from missing_delivery where service = ${service}) < ${missingMax}::int
      for no key update skip locked
    ), due as (
      select statement_timestamp() - make_interval(secs => ${graceSeconds}::int) as at
    ), page as materialized (
      select p.published_at, p.id from place cross join due cross join lateral (
        select e.published_at, e.id from ${sql.identifier(service)}.published_event e
        where e.published_at >= place.published_at and (e.published_at, e.id) > (place.published_at, place.event_id)
          and e.published_at < due.at
        order by e.published_at, e.id limit ${pageMax}::int
      ) p
    ), known as materialized (
      select d.event_id from (select min(id) as first, max(id) as last from page) p cross join endpoint e
      cross join lateral (
        select d.event_id from delivery d
        where d.endpoint_id = e.id and d.event_id >= p.first and d.event_id <= p.last
        -- Endpoint by endpoint: without it, it may be planned as a join with all deliveries.
        offset 0
      ) d
    ), missing as (
      insert into missing_delivery (event_id, service, published_at, found_at)
      select id, ${service}, published_at, statement_timestamp() from page
      where not exists (select from known where known.event_id = page.id)
      on conflict do nothing returning event_id
    ), moved as (
      update judged_event j
      set published_at = greatest(j.published_at, coalesce(last.published_at, due.at)), event_id = coalesce(last.id, '')
      from place cross join due
      left join (select published_at, id from page order by published_at desc, id desc limit 1) last
        on (select count(*) from page) >= ${pageMax}::int
      where j.service = ${service}
    )
    select (select count(*) from page)::int as judged, array(select event_id from missing) as missing
  `
  return { missing: row?.missing ?? [], isMore: (row?.judged ?? 0) >= pageMax }
}

/** Forgets what has come since. */
export async function forgetFound(db: Db): Promise<void> {
  await db`
    delete from missing_delivery m where (
      select true from endpoint e cross join lateral (
        select from delivery d where d.endpoint_id = e.id and d.event_id = m.event_id limit 1
      ) found limit 1
    )
  `
}

/** Whoever publishes what this service reacts to. */
const publishers = [
  ...new Set(
    eventKinds
      .map((kind) => events[kind])
      .filter(({ consumedBy }) => (consumedBy as readonly string[]).includes('webhooks'))
      .map(({ emittedBy }) => emittedBy),
  ),
]
const judgedEveryMs = 30_000
const loggedMax = 20

/**
 * Holds what the services published against the deliveries: whatever lost an event on its way, or a delivery afterwards, an
 * alert names it within ten minutes. What came is counted by hour, for the team.
 */
export const deliveryJudge = ({ db, log }: Pick<ServiceContext, 'db' | 'log'>): Loop =>
  new Loop({
    name: 'judging deliveries',
    log,
    everyMs: judgedEveryMs,
    async run() {
      await db.transaction(forgetFound)
      let isMore = false
      for (const service of publishers) {
        const judged = await db.transaction((tx) => judgeEvents(tx, service))
        isMore ||= judged.isMore
        const { missing } = judged
        if (missing.length > 0)
          log.error(
            { publisher: service, count: missing.length, eventIds: missing.slice(0, loggedMax) },
            'published events have no delivery',
          )
      }
      return (await db.transaction((tx) => countArrivals(tx))) || isMore
    },
  })

const withheldEveryMs = 2_000

/**
 * Withholds what still waits for endpoints that are disabled, page by page. Disabling withholds the first page itself. The
 * rest would keep the endpoint's row and a connection for as long as the backlog is large.
 */
export const backlogWithholding = ({ db, clock, log }: Pick<ServiceContext, 'db' | 'clock' | 'log'>): Loop =>
  new Loop({
    name: 'withholding backlogs',
    log,
    everyMs: withheldEveryMs,
    run: () =>
      db.transaction(async (tx) => {
        const id = await lockDisabledEndpoint(tx)
        if (id === null) return false
        return (await withholdDeliveries(tx, id, clock.now())) > 0
      }),
  })

const lostLeasesEveryMs = 1_000

/** Ends leases that were lost with their process, so that their attempts are made again. */
export const lostLeaseEnding = ({
  db,
  log,
  leaseMs,
}: Pick<ServiceContext, 'db' | 'log'> & { readonly leaseMs: number }): Loop =>
  new Loop({ name: 'ending lost leases', log, everyMs: lostLeasesEveryMs, run: () => endLostLeases(db, leaseMs) })

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
      const rows = await db<{ service: string; missing: number; unjudgedSeconds: number }>`
        select service, extract(epoch from clock_timestamp() - published_at)::float8 as unjudged_seconds,
          (select count(*) from missing_delivery m where m.service = j.service)::int as missing
        from judged_event j order by service
      `
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
