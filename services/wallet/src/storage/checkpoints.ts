import type { Db, ReadDb } from '@backoffice/service-runtime'

/**
 * Moves the checkpoint of every system account up to the oldest transaction that is still running: transactions with a
 * lower xid are committed or rolled back, so they can add nothing any more.
 * @returns how many checkpoints moved
 */
export async function takeCheckpoints(db: Db, now: Date): Promise<number> {
  const rows = await db`
    with horizon as (
      select pg_snapshot_xmin(pg_current_snapshot()) as below
    ), added as (
      select a.id as account_id, h.below, coalesce(p.balance, 0) as before, coalesce(p.entries, 0) as entries_before,
        sum(e.amount) as amount, count(*) as entries
      from account a cross join horizon h
      left join system_checkpoint p on p.account_id = a.id
      join entry e on e.account_id = a.id and e.seq is null and e.xid >= coalesce(p.below, '0'::xid8) and e.xid < h.below
      where a.owner_id is null
      group by 1, 2, 3, 4
    )
    insert into system_checkpoint (account_id, below, balance, entries, taken_at)
    select account_id, below, before + amount, entries_before + entries, ${now}::timestamptz from added
    on conflict (account_id) do update
      set below = excluded.below, balance = excluded.balance, entries = excluded.entries, taken_at = excluded.taken_at
      where system_checkpoint.below < excluded.below
        and system_checkpoint.entries < excluded.entries
    returning true
  `
  return rows.length
}

/** The balance of a brand's system account now: its checkpoint, and what was entered since. */
export async function readSystemBalance(
  db: ReadDb,
  { brandId, kind, currency }: { readonly brandId: string; readonly kind: string; readonly currency: string },
): Promise<bigint> {
  const rows = await db<{ balance: bigint }>`
    select (coalesce(p.balance, 0) + coalesce((
      select sum(e.amount) from entry e
      where e.account_id = a.id and e.seq is null and e.xid >= coalesce(p.below, '0'::xid8)
    ), 0))::bigint as balance
    from account a left join system_checkpoint p on p.account_id = a.id
    where a.brand_id = ${brandId} and a.kind = ${kind} and a.currency = ${currency} and a.owner_id is null
  `
  return rows[0]?.balance ?? 0n
}
