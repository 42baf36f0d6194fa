import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import type { Changes } from '../domain/decide.ts'

const text = (value: bigint | null | undefined) => (value === null || value === undefined ? null : String(value))
const time = (value: Date | null) => (value === null ? null : value.toISOString())

/**
 * Writes what a batch decided, in one statement. Transfers go in by reference, so that two batches that meet on a
 * reference of different accounts cannot deadlock; one of them then fails on the unique index and runs again.
 */
export async function writeChanges(connection: Sql, changes: Changes, now: Date): Promise<void> {
  const { transfers, entries, holds, accounts } = changes
  if (transfers.length + holds.length === 0) return
  await sql`
    with new_transfer as (
      insert into transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, reverses, reason,
        effective_at, created_at)
      select t.*, ${now}::timestamptz
      from unnest(
        ${transfers.map((t) => t.id)}::text[], ${transfers.map((t) => t.brandId)}::text[],
        ${transfers.map((t) => t.reference)}::text[], ${transfers.map((t) => t.type)}::text[],
        ${transfers.map((t) => text(t.debitAccount))}::bigint[], ${transfers.map((t) => text(t.creditAccount))}::bigint[],
        ${transfers.map((t) => text(t.amount))}::bigint[], ${transfers.map((t) => t.outcome)}::text[],
        ${transfers.map((t) => t.reverses)}::text[], ${transfers.map((t) => t.reason)}::text[],
        ${transfers.map((t) => time(t.effectiveAt))}::timestamptz[]
      ) as t (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, reverses, reason, effective_at)
      order by t.brand_id, t.reference
    ), new_entry as (
      insert into entry (account_id, seq, transfer_id, amount, balance, hash)
      select e.account_id, e.seq, e.transfer_id, e.amount, e.balance, decode(e.hash, 'hex')
      from unnest(
        ${entries.map((e) => text(e.accountId))}::bigint[], ${entries.map((e) => text(e.guarded?.seq))}::bigint[],
        ${entries.map((e) => e.transferId)}::text[], ${entries.map((e) => text(e.amount))}::bigint[],
        ${entries.map((e) => text(e.guarded?.balance))}::bigint[],
        ${entries.map((e) => e.guarded?.hash.toString('hex') ?? null)}::text[]
      ) as e (account_id, seq, transfer_id, amount, balance, hash)
    ), kept_hold as (
      insert into hold (brand_id, reference, account_id, amount, state, transfer_id, opened_at, closed_at)
      select h.*
      from unnest(
        ${holds.map((h) => h.brandId)}::text[], ${holds.map((h) => h.reference)}::text[],
        ${holds.map((h) => text(h.accountId))}::bigint[], ${holds.map((h) => text(h.amount))}::bigint[],
        ${holds.map((h) => h.state)}::text[], ${holds.map((h) => h.transferId)}::text[],
        ${holds.map((h) => time(h.openedAt))}::timestamptz[], ${holds.map((h) => time(h.closedAt))}::timestamptz[]
      ) as h (brand_id, reference, account_id, amount, state, transfer_id, opened_at, closed_at)
      order by h.brand_id, h.reference
      on conflict (brand_id, reference) do update
        set state = excluded.state, transfer_id = excluded.transfer_id, closed_at = excluded.closed_at
    )
    update account a
    set posted = c.posted, held = c.held, seq = c.seq, head = decode(c.head, 'hex'), updated_at = ${now}::timestamptz
    from unnest(
      ${accounts.map((c) => text(c.id))}::bigint[], ${accounts.map((c) => text(c.posted))}::bigint[],
      ${accounts.map((c) => text(c.held))}::bigint[], ${accounts.map((c) => text(c.seq))}::bigint[],
      ${accounts.map((c) => c.head.toString('hex'))}::text[]
    ) as c (id, posted, held, seq, head)
    where a.id = c.id
  `.execute(connection)
}
