import { Loop } from '@backoffice/process'
import type { Db, ServiceContext } from '@backoffice/service-runtime'

/** Moves the checkpoints of system accounts, so that their balances stay quick to read. */
export const checkpoints = ({ db, clock, log }: Pick<ServiceContext, 'db' | 'clock' | 'log'>, everyMs: number): Loop =>
  new Loop({
    name: 'checkpoints',
    log,
    everyMs,
    run: async () => {
      await takeCheckpoints(db, clock.now())
    },
  })

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
        e.amount, e.entries
      from account a cross join horizon h
      left join system_checkpoint p on p.account_id = a.id
      -- Account by account, so that nothing below its checkpoint is read.
      cross join lateral (
        select sum(amount) as amount, count(*) as entries from entry
        where account_id = a.id and seq is null and xid >= coalesce(p.below, '0'::xid8) and xid < h.below
      ) e
      where a.owner_id is null and e.entries > 0
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
