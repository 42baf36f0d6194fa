import { type Environment, pendingCountedMax } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { type EndpointColumns, endpointColumns } from './endpoints.ts'

/** An endpoint with what waits for it, and its rank in the list: 0 fails, 1 recovers, 2 works or is off. */
export interface ListedEndpoint extends EndpointColumns {
  readonly operatorId: string
  readonly environment: Environment
  readonly rank: number
  readonly pending: number
  readonly oldestPendingAt: Date | null
}

/** The first rank of those that do not fail. */
const worksFrom = 2
export const isFailing = ({ rank }: Pick<ListedEndpoint, 'rank'>): boolean => rank < worksFrom

/** Nothing is sent to a disabled endpoint, so its breaker says nothing. It fails if it was failing when it was disabled. */
const rank = sql`
  case when not enabled then case when failing_since is null then 2 else 0 end
    else case breaker_state when 'open' then 0 when 'recovering' then 1 else 2 end end
`

/** Stands for no failure, and sorts behind the beginning of any. */
const never = 'infinity'

/** In milliseconds, as a cursor has it. */
const since = sql`coalesce(date_trunc('milliseconds', failing_since), ${never})`

/** Where the list goes on: behind the endpoint with this rank, failing since then. */
interface Place {
  readonly rank: number
  readonly failingSince: string
  readonly id: string
}

const beginning: Place = { rank: -1, failingSince: '-infinity', id: '' }

const cursorPattern = /^([012])\/(infinity|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\/(\w{1,64}\/\w{1,16})$/

/** The cursor of the page that begins after an endpoint. */
export const cursorOf = ({ rank, failingSince, id }: Pick<ListedEndpoint, 'rank' | 'failingSince' | 'id'>): string =>
  `${rank}/${failingSince?.toISOString() ?? never}/${id}`

/** @returns undefined for what is no cursor of this list */
export function placeOf(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return beginning
  const [, rank, failingSince = '', id = ''] = cursorPattern.exec(cursor) ?? []
  if (rank === undefined || (failingSince !== never && Number.isNaN(Date.parse(failingSince)))) return undefined
  return { rank: Number(rank), failingSince, id }
}

export interface EndpointFilter {
  readonly environment: Environment
  /** Only those that fail. */
  readonly failing: boolean
  readonly place: Place
  readonly limit: number
}

/** Endpoints that have a URL: those that fail first, and among them the one that has failed for the longest time. */
export function listEndpoints(db: ReadDb, filter: EndpointFilter): Promise<ListedEndpoint[]> {
  const { environment, failing, place, limit } = filter
  return db<ListedEndpoint>`
    select ${endpointColumns}, operator_id, environment, rank, backlog.pending, backlog.oldest_pending_at
    from (
      select e.*, place.rank, place.since
      from endpoint e cross join lateral (select ${rank} as rank, ${since} as since) place
      where e.environment = ${environment} and e.url is not null
        and (not ${failing}::boolean or place.rank < ${worksFrom})
        and (place.rank, place.since, e.id) > (${place.rank}::integer, ${place.failingSince}::timestamptz, ${place.id})
      order by place.rank, place.since, e.id limit ${limit}
    ) listed
    cross join lateral (
      select
        (select count(*)::integer from (
          select from delivery d where d.endpoint_id = listed.id and d.state = 'pending' limit ${pendingCountedMax}
        ) counted) as pending,
        (select d.received_at from delivery d where d.endpoint_id = listed.id and d.state = 'pending'
          order by d.received_at limit 1) as oldest_pending_at
    ) backlog
    order by rank, since, id
  `
}
