import { assignments, type Db, rowsOf, unnest } from '@backoffice/service-runtime'
import type { Changes } from '../domain/decide.ts'
import { holdColumns } from './known.ts'
import { transferColumns } from './transfers.ts'

/**
 * Writes what a batch decided, in one statement. Transfers go in by reference, so that two batches that meet on a
 * reference of different accounts cannot deadlock; one of them then fails on the unique index and runs again.
 */
export async function writeChanges(db: Db, changes: Changes, now: Date): Promise<void> {
  const { transfers, entries, holds, accounts } = changes
  if (transfers.length + holds.length === 0) return
  const rows = entries.map(({ guarded, ...entry }) => ({ ...entry, ...(guarded ?? unguarded) }))
  await db`
    with new_transfer as (
      insert into transfer ${rowsOf('t', transfers, transferColumns)}
      order by t.brand_id, t.reference
    ), new_entry as (
      insert into entry ${rowsOf('e', rows, entryColumns)}
    ), kept_hold as (
      insert into hold ${rowsOf('h', holds, holdColumns)}
      order by h.brand_id, h.reference
      -- The account is set so that a trigger compares it. Another player may have used the reference a moment ago.
      on conflict (brand_id, reference) do update
        set account_id = excluded.account_id, state = excluded.state, transfer_id = excluded.transfer_id, closed_at = excluded.closed_at
    )
    update account a set ${assignments('c', balanceColumns)}, updated_at = ${now}::timestamptz
    from ${unnest('c', accounts, `id bigint, ${balanceColumns}`)} where a.id = c.id
  `
}

const entryColumns = 'account_id bigint, seq bigint, transfer_id text, amount bigint, balance bigint, hash bytea'
/** The fields that an entry of a system account does not have. */
const unguarded = { seq: null, balance: null, hash: null }
const balanceColumns = 'posted bigint, held bigint, seq bigint, head bytea'
