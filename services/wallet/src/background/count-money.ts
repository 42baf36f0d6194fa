import { Loop } from '@backoffice/process'
import type { Db, ServiceContext } from '@backoffice/service-runtime'

/** Counts deposits and withdrawals by day. After an upgrade it goes through all that was entered before. */
export const moneyCounter = ({ db, log }: Pick<ServiceContext, 'db' | 'log'>, everyMs: number): Loop =>
  new Loop({ name: 'counting money by day', log, everyMs, run: () => countMoney(db) })

/** Entries of each account at once: a busy brand has fewer in a minute. */
const countedMax = 1_000
/** So many accounts at once: however many brands there are, the statement ends in its time. */
const accountsMax = 20

/**
 * Adds what was entered on the accounts of deposits and withdrawals to its days, up to the oldest transaction that is still
 * running: those before it can add nothing any more, so each entry is counted once, whoever counts. An account that another
 * process counts is left to it. Those that are behind most come first.
 * @param most so many entries of an account, and those of their last transaction
 * @returns whether an account has more
 */
export async function countMoney(db: Db, most = countedMax): Promise<boolean> {
  const [counted] = await db<{ hasMore: boolean }>`
    with horizon as (
      select pg_snapshot_xmin(pg_current_snapshot()) as below
    ), begun as (
      insert into money_position (account_id, through)
      select a.id, '0'::xid8 from account a
      where a.owner_id is null and a.kind in ('deposits', 'withdrawals')
        and not exists (select from money_position p where p.account_id = a.id)
      on conflict do nothing
    ), position as (
      select p.account_id, p.through from money_position p cross join horizon h
      where exists (
        select from entry where account_id = p.account_id and seq is null and xid > p.through and xid < h.below
      )
      order by p.through limit ${accountsMax} for update of p skip locked
    ), page as materialized (
      select a.id as account_id, a.brand_id, a.currency, e.transfer_id, e.xid
      from position p join account a on a.id = p.account_id cross join horizon h
      cross join lateral (
        select transfer_id, xid from entry where account_id = p.account_id and seq is null and xid > p.through and xid < h.below
        order by xid fetch first ${most} rows with ties
      ) e
    ), moved as (
      update money_position p set through = l.xid
      from (select distinct on (account_id) account_id, xid from page order by account_id, xid desc) l
      where p.account_id = l.account_id
    ), counted as (
      insert into money_day as m (environment, day, brand_id, currency, type, transfers, amount)
      select b.environment, (t.created_at at time zone b.time_zone)::date, b.id, page.currency, t.type, count(*), sum(t.amount)
      from page join brand b on b.id = page.brand_id join transfer t on t.id = page.transfer_id
      where t.type in ('DEPOSIT', 'WITHDRAWAL') group by 1, 2, 3, 4, 5
      on conflict (environment, day, brand_id, currency, type)
        do update set transfers = m.transfers + excluded.transfers, amount = m.amount + excluded.amount
    )
    select coalesce(max(n) >= ${most}, false) or count(*) = ${accountsMax} as has_more
    from (select count(*) as n from page group by account_id) full_page
  `
  return counted?.hasMore ?? false
}
