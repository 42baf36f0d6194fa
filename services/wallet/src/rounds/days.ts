import { fromMinorUnits, type IdOf, type PlaySums } from '@backoffice/contracts'
import { type Db, type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import { settlingSeconds } from '../statement/records.ts'

/** When a day begins in a time zone. Where summer time takes midnight away it begins with what comes next. */
const startOf = (day: Fragment, zone: Fragment) => sql`((${day})::timestamp at time zone ${zone})`

export interface DayBounds {
  readonly day: string
  readonly from: Date
  /** Not included. */
  readonly to: Date
}

/** The days of a brand's calendar from one to another, both included; none where the brand is not known. */
export async function findDays(db: ReadDb, brandId: IdOf<'brand'>, first: string, last: string): Promise<DayBounds[]> {
  return db<DayBounds>`
    select d.day, ${startOf(sql`d.day`, sql`b.time_zone`)} as from, ${startOf(sql`d.day + 1`, sql`b.time_zone`)} as to
    from brand b cross join lateral (
      select ${first}::date + n as day from generate_series(0, ${last}::date - ${first}::date) n
    ) d
    where b.id = ${brandId} order by d.day
  `
}

interface SumsRow {
  readonly providerId: IdOf<'provider'>
  readonly currency: string
  readonly rounds: number
  readonly bets: string
  readonly wins: string
  readonly rollbacks: string
  readonly jackpots: string
  readonly promotions: string
}

type Period = Pick<DayBounds, 'from' | 'to'> & { readonly brandId: IdOf<'brand'> }

/** What the accounts of providers gained in a period, as `moved`: a sum of each type, and the few reversals one by one. */
function movedIn({ brandId, from, to }: Period): Fragment {
  const isReversal = sql`
    r.outcome = 'posted' and r.type in ('ADJUSTMENT', 'REVERSAL')
      and r.created_at >= ${from}::timestamptz and r.created_at < ${to}::timestamptz
  `
  const reversed = sql`
    (select case o.type when 'BET' then 'ROLLBACK' else o.type end from transfer o where o.id = r.reverses)
  `
  return sql`
    house as materialized (
      select id, party, currency from account where brand_id = ${brandId} and owner_id is null and party <> ''
    ), moved as (
      select h.party as provider_id, h.currency, t.type, case t.type when 'BET' then t.amount else -t.amount end as amount
      from (
        -- Before the join, of which the planner expects few rows: for them it would sort all.
        select case t.type when 'BET' then t.credit_account else t.debit_account end as house, t.type, sum(t.amount) as amount
        from transfer t
        where t.brand_id = ${brandId} and t.outcome = 'posted'
          and t.created_at >= ${from}::timestamptz and t.created_at < ${to}::timestamptz
          and t.type in ('BET', 'WIN', 'ROLLBACK', 'JACKPOT', 'PROMOTION')
        group by 1, 2
      ) t join house h on h.id = t.house
      union all
      select h.party, h.currency, ${reversed}, r.amount from house h join transfer r on r.credit_account = h.id and ${isReversal}
      union all
      select h.party, h.currency, ${reversed}, -r.amount from house h join transfer r on r.debit_account = h.id and ${isReversal}
    )
  `
}

/** How many rounds of each provider were opened in a period, as `opened`. */
const openedIn = ({ brandId, from, to }: Period) => sql`
  provider as (
    (select provider_id from round where brand_id = ${brandId} order by provider_id limit 1)
    union all
    select n.provider_id from provider cross join lateral (
      select r.provider_id from round r where r.brand_id = ${brandId} and r.provider_id > provider.provider_id
      order by r.provider_id limit 1
    ) n
  ), opened as (
    select provider.provider_id, b.currency, n.rounds from provider
    cross join lateral (
      select count(*)::int as rounds from round r
      where r.brand_id = ${brandId} and r.provider_id = provider.provider_id
        and r.opened_at >= ${from}::timestamptz and r.opened_at < ${to}::timestamptz
    ) n
    join brand b on b.id = ${brandId}
    where n.rounds > 0
  )
`

/**
 * What play did in a brand in a period, from the ledger: what was entered on the accounts of providers. A reversal of the team
 * counts as what it takes back, but for a stake, which it gives back as a rollback does. Rounds are those that were opened.
 */
export async function sumPlay(db: ReadDb, period: Period): Promise<PlaySums[]> {
  const rows = await db<SumsRow>`
    with recursive ${movedIn(period)}, ${openedIn(period)}, summed as (
      select provider_id, currency,
        coalesce(sum(amount) filter (where type = 'BET'), 0) as bets,
        coalesce(-sum(amount) filter (where type = 'WIN'), 0) as wins,
        coalesce(-sum(amount) filter (where type = 'ROLLBACK'), 0) as rollbacks,
        coalesce(-sum(amount) filter (where type = 'JACKPOT'), 0) as jackpots,
        coalesce(-sum(amount) filter (where type = 'PROMOTION'), 0) as promotions
      from moved group by 1, 2
    )
    select provider_id, currency, coalesce(o.rounds, 0) as rounds, coalesce(s.bets, 0) as bets, coalesce(s.wins, 0) as wins,
      coalesce(s.rollbacks, 0) as rollbacks, coalesce(s.jackpots, 0) as jackpots, coalesce(s.promotions, 0) as promotions
    from summed s full join opened o using (provider_id, currency) order by 1, 2
  `
  return rows.map(sumsOf)
}

// Sums are numeric, and so text: those of a brand may be larger than a balance.
function sumsOf({ providerId, currency, rounds, ...row }: SumsRow): PlaySums {
  const [bets, wins, rollbacks] = [BigInt(row.bets), BigInt(row.wins), BigInt(row.rollbacks)]
  return {
    ...{ providerId, currency, rounds, bets: fromMinorUnits(bets), wins: fromMinorUnits(wins) },
    rollbacks: fromMinorUnits(rollbacks),
    jackpots: fromMinorUnits(BigInt(row.jackpots)),
    promotions: fromMinorUnits(BigInt(row.promotions)),
    ggr: fromMinorUnits(bets - wins - rollbacks),
  }
}

/** The sums of a brand's days that are closed. They do not change any more. */
export async function findClosedDays(
  db: ReadDb,
  brandId: IdOf<'brand'>,
  first: string,
  last: string,
): Promise<ReadonlyMap<string, readonly PlaySums[]>> {
  const rows = await db<{ day: string; sums: PlaySums[] }>`
    select day, sums from play_day where brand_id = ${brandId} and day >= ${first}::date and day <= ${last}::date
  `
  return new Map(rows.map(({ day, sums }) => [day, sums]))
}

/** A day of a brand that has ended. */
export interface EndedDay extends DayBounds {
  readonly brandId: IdOf<'brand'>
  readonly operatorId: IdOf<'operator'>
  readonly environment: 'sandbox' | 'production'
}

/**
 * The next day of each brand that has ended and to which nothing can be entered any more: the one behind the last that is
 * closed, and at first the one before its first play, because midnight may come twice where summer time ends.
 */
export function findEndedDays(db: ReadDb, limit: number): Promise<EndedDay[]> {
  return db<EndedDay>`
    select b.id as brand_id, b.operator_id, b.environment, d.day, ${startOf(sql`d.day`, sql`b.time_zone`)} as from,
      ${startOf(sql`d.day + 1`, sql`b.time_zone`)} as to
    from brand b
    cross join lateral (
      select coalesce(
        (select day + 1 from play_day where brand_id = b.id order by day desc limit 1),
        (select (created_at at time zone b.time_zone)::date - 1 from play where brand_id = b.id order by created_at limit 1)
      ) as day
    ) d
    where ${startOf(sql`d.day + 1`, sql`b.time_zone`)} <= now() - make_interval(secs => ${settlingSeconds}::int)
    order by b.id limit ${limit}
  `
}

/** Closes a day. @returns false where another process has closed it */
export async function insertClosedDay(
  db: Db,
  {
    brandId,
    day,
    sums,
    now,
  }: Pick<EndedDay, 'brandId' | 'day'> & { readonly sums: readonly PlaySums[]; readonly now: Date },
): Promise<boolean> {
  const rows = await db`
    insert into play_day (brand_id, day, sums, closed_at)
    values (${brandId}, ${day}::date, ${JSON.stringify(sums)}::json, ${now}::timestamptz)
    on conflict do nothing returning true
  `
  return rows.length > 0
}
