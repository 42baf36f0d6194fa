// Records.

import {
  agedMax,
  ageFromHours,
  aloneHours,
  type Environment,
  type IdOf,
  oddMax,
  timedMax,
  type WaitingStatus,
  waitingStatuses,
} from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { timeByDay } from '@backoffice/team-access'
import { environmentsOf } from '../records.ts'

interface WithdrawalQueueState {
  readonly environment: Environment
  readonly status: WaitingStatus
  readonly waiting: number
  readonly oldestAt: Date | null
}

/** How many withdrawals wait, and since when the oldest one does, for each environment and status. */
export function countQueue(
  db: ReadDb,
  filter: { readonly environment?: Environment },
): Promise<WithdrawalQueueState[]> {
  return db<WithdrawalQueueState>`
    select queue.environment, queue.status,
      (
        select count(*) from withdrawal w where w.status in ('under_review', 'approved')
          and w.status = queue.status and w.environment = queue.environment
      )::int as waiting,
      (
        select w.created_at from withdrawal w where w.status in ('under_review', 'approved')
          and w.status = queue.status and w.environment = queue.environment order by w.id limit 1
      ) as oldest_at
    from unnest(${environmentsOf(filter)}::text[]) with ordinality as e (environment, place)
    cross join unnest(${waitingStatuses}::text[]) with ordinality as s (status, rank)
    cross join lateral (select e.environment, s.status) queue (environment, status)
    order by place, rank
  `
}

interface QueueAge {
  readonly status: WaitingStatus
  readonly currency: string
  readonly fromHours: number
  readonly waiting: number
  /** As text, because a sum may be larger than a bigint. */
  readonly amount: string
}

/** How much waits, by status, currency and age: so many of each status as have waited longest, found by the queue's index. */
export const ageQueue = (db: ReadDb, environment: Environment, now: Date): Promise<QueueAge[]> =>
  db<QueueAge>`
    select s.status, w.currency, f.from_hours, count(*)::int as waiting, sum(w.amount)::text as amount
    from unnest(${waitingStatuses}::text[]) with ordinality as s (status, place)
    cross join lateral (
      select currency, amount, created_at from withdrawal
      where status in ('under_review', 'approved') and status = s.status and environment = ${environment}
      order by id limit ${agedMax}
    ) w
    cross join lateral (
      select max(hours) as from_hours from unnest(${ageFromHours}::int[]) as hours
      where hours = 0 or w.created_at <= ${now}::timestamptz - make_interval(hours => hours)
    ) f
    group by s.place, s.status, w.currency, f.from_hours order by s.place, w.currency, f.from_hours
  `

/** Those of each status that have waited longest. */
const waitingLongest = (environment: Environment) => sql`
  unnest(${waitingStatuses}::text[]) as s (status)
  cross join lateral (
    select id, brand_id, destination_digest, amount, currency from withdrawal
    where status in ('under_review', 'approved') and status = s.status and environment = ${environment}
    order by id limit ${oddMax.lookedAt}
  ) w
`

/** The ids of the largest that wait, the largest first: of each status as many are at an end of an index. */
export async function findLargest(db: ReadDb, environment: Environment): Promise<string[]> {
  const rows = await db<{ id: string }>`
    select w.id from unnest(${waitingStatuses}::text[]) as s (status)
    cross join lateral (
      select id, amount from withdrawal
      where status in ('under_review', 'approved') and status = s.status and environment = ${environment}
      order by amount desc, id desc limit ${oddMax.largest}
    ) w
    order by w.amount desc, w.id desc limit ${oddMax.largest}
  `
  return rows.map(({ id }) => id)
}

interface SharedDestination {
  readonly withdrawalId: string
  readonly players: number
  readonly waiting: number
  readonly amount: string
  readonly currency: string
}

/**
 * Destinations of what waits to which several players of a brand are paid, those of most players first. Of each an index is
 * gone through from one player to the next.
 */
export const findShared = (db: ReadDb, environment: Environment): Promise<SharedDestination[]> =>
  db<SharedDestination>`
    select g.id as withdrawal_id, o.players, g.waiting, g.amount, g.currency
    from (
      select w.brand_id, w.destination_digest, w.currency, min(w.id) as id, count(*)::int as waiting,
        sum(w.amount)::text as amount
      from ${waitingLongest(environment)} where w.destination_digest is not null group by 1, 2, 3
    ) g
    cross join lateral (
      with recursive player (player_id, found) as (
        (
          select w.player_id, 1 from withdrawal w
          where w.brand_id = g.brand_id and w.destination_digest = g.destination_digest and w.destination_digest is not null
            and w.version > 0
          order by w.player_id limit 1
        )
        union all
        select next.player_id, player.found + 1 from player cross join lateral (
          select w.player_id from withdrawal w
          where w.brand_id = g.brand_id and w.destination_digest = g.destination_digest and w.destination_digest is not null
            and w.version > 0 and w.player_id > player.player_id
          order by w.player_id limit 1
        ) next
        where player.found < ${oddMax.playersCounted}
      )
      select count(*)::int as players from player
    ) o
    where o.players >= ${oddMax.playersFrom} order by o.players desc, g.id limit ${oddMax.shared}
  `

/** How long approvals and rejections took, by the day on which they were made: of each day the last ones. */
export const timeDecisions = timeByDay(
  ({ environment, begin, end }) => sql`
    select extract(epoch from reviewed_at - created_at) as seconds from withdrawal
    where environment = ${environment} and reviewed_at >= ${begin} and reviewed_at < ${end}
    order by reviewed_at desc limit ${timedMax}
  `,
)

interface AskedPayment {
  readonly playerId: IdOf<'player'>
  readonly person: string
  /** Their account at the identity provider. */
  readonly personId: string | null
  /** What a machine paid counts whoever approved it. */
  readonly isMachine: boolean
}

/**
 * What each person both approved and paid of a player's withdrawals in the last `aloneHours`, in minor units and in the order
 * of `asked`.
 */
export async function sumPaidAlone(db: ReadDb, asked: readonly AskedPayment[]): Promise<bigint[]> {
  if (asked.length === 0) return []
  const rows = await db<{ paid: bigint }>`
    select coalesce((
      select sum(w.amount) from withdrawal w
      where w.player_id = asked.player_id and w.paid_at > now() - make_interval(hours => ${aloneHours}::int)
        and (w.approved_by = asked.person or w.approved_by_id = asked.person_id or asked.is_machine)
        and exists (
          select from status_transition s
          where s.record_id = w.id and s.to_status = 'paid' and s.by_kind = 'team'
            and (s.by_name = asked.person or s.by_id = asked.person_id)
        )
    ), 0)::bigint as paid
    from ${sql.unnest('asked', asked, 'player_id text, person text, person_id text, is_machine bool')}
    order by place
  `
  return rows.map(({ paid }) => paid)
}
