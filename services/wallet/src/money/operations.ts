import {
  brandDefaults,
  decisionDays,
  type Environment,
  fromMinorUnits,
  moneyDays,
  operations,
} from '@backoffice/contracts'
import { handle, type ReadDb, sql } from '@backoffice/service-runtime'

export const listMoneyDays = handle(operations.wallet.listMoneyDays, async ({ input }, { db, now }) => {
  const { environment, brandId } = input
  // Asked first: what is counted meanwhile is more than this says, never less.
  const uncounted = await findUncounted(db, { environment, brandId })
  const days = await listDays(db, { environment, brandId, now })
  const shown = (amount: string) => fromMinorUnits(BigInt(amount))
  return {
    data: days.map((day) => ({ ...day, deposited: shown(day.deposited), withdrawn: shown(day.withdrawn) })),
    countedUntil: uncounted?.toISOString() ?? null,
  }
})

interface MoneyDay {
  readonly day: string
  readonly currency: string
  readonly deposits: number
  /** Sums are text: those of all brands may be larger than a bigint. */
  readonly deposited: string
  readonly withdrawals: number
  readonly withdrawn: string
}

interface Asked {
  readonly environment: Environment
  readonly brandId: string | undefined
}

/** When the first deposit or withdrawal was entered that `countMoney` has not come to: of each account one entry is read. */
async function findUncounted(db: ReadDb, { environment, brandId }: Asked): Promise<Date | null> {
  const whose = brandId === undefined ? sql`true` : sql`b.id = ${brandId}`
  const [first] = await db<{ at: Date | null }>`
    select min(uncounted.at) as at
    from brand b cross join lateral (
      select min((
        select (select created_at from transfer where id = e.transfer_id) from entry e
        where e.account_id = a.id and e.seq is null and e.xid > coalesce(p.through, '0'::xid8) order by e.xid limit 1
      )) as at
      from account a left join money_position p on p.account_id = a.id
      where a.brand_id = b.id and a.owner_id is null and a.kind in ('deposits', 'withdrawals')
    ) uncounted
    where ${whose} and b.environment = ${environment}
  `
  return first?.at ?? null
}

/** The last days of an environment, or of one brand of it: a row for each brand, currency, type and day is read. */
function listDays(db: ReadDb, { environment, brandId, now }: Asked & { readonly now: Date }): Promise<MoneyDay[]> {
  const whose = brandId === undefined ? sql`true` : sql`brand_id = ${brandId}`
  return db<MoneyDay>`
    select day, currency, coalesce(sum(transfers) filter (where type = 'DEPOSIT'), 0)::int as deposits,
      coalesce(sum(amount) filter (where type = 'DEPOSIT'), 0)::text as deposited,
      coalesce(sum(transfers) filter (where type = 'WITHDRAWAL'), 0)::int as withdrawals,
      coalesce(sum(amount) filter (where type = 'WITHDRAWAL'), 0)::text as withdrawn
    from money_day
    -- A brand east of us is a day ahead.
    where ${whose} and environment = ${environment} and day > (${now}::timestamptz at time zone 'UTC')::date - ${moneyDays}::int
    group by day, currency order by day, currency
  `
}

export const listBalanceDays = handle(operations.wallet.listBalanceDays, async ({ input }, { db, now }) => {
  const { playerId, timeZone = brandDefaults.timeZone } = input
  const days = await findBalances(db, playerId, timeZone, now)
  return { data: days.map((row) => ({ ...row, balance: fromMinorUnits(row.balance) })) }
})

/**
 * The balance at the end of each of the last days. Entries are numbered and have no time, so the last one of a day is looked
 * for by halves: of a million entries twenty are read for each day.
 */
const findBalances = (db: ReadDb, playerId: string, timeZone: string, now: Date) =>
  db<{ day: string; balance: bigint; currency: string }>`
    with recursive search (day, ends_at, account_id, currency, low, high) as (
      select d.day, (d.day + 1)::timestamp at time zone ${timeZone}, a.id, a.currency, 0::bigint, a.seq
      from account a cross join (
        select (${now}::timestamptz at time zone ${timeZone})::date - n as day from generate_series(0, ${decisionDays}::int - 1) n
      ) d
      where a.owner_id = ${playerId}
      union all
      select s.day, s.ends_at, s.account_id, s.currency, case when middle.is_before then middle.seq else s.low end,
        case when middle.is_before then s.high else middle.seq - 1 end
      from search s cross join lateral (
        select e.seq, t.created_at < s.ends_at as is_before from entry e join transfer t on t.id = e.transfer_id
        where e.account_id = s.account_id and e.seq = (s.low + s.high + 1) / 2 limit 1
      ) middle
      where s.low < s.high
    )
    select s.day, e.balance, s.currency from search s cross join lateral (
      select balance from entry where account_id = s.account_id and seq = s.low limit 1
    ) e
    where s.low = s.high order by s.day
  `
