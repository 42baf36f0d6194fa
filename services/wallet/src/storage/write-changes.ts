import type { Db } from '@backoffice/service-runtime'
import type { Changes } from '../domain/decide.ts'

/**
 * Writes what a batch decided, in one statement. Transfers go in by reference, so that two batches that meet on a
 * reference of different accounts cannot deadlock; one of them then fails on the unique index and runs again.
 */
export async function writeChanges(db: Db, changes: Changes, now: Date): Promise<void> {
  const { transfers, entries, holds, accounts } = changes
  if (transfers.length + holds.length === 0) return
  await db`
    with new_transfer as (
      insert into transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, reverses, reason,
        effective_at, created_at)
      select t.*, ${now}::timestamptz
      from unnest(
        ${transfers.map((t) => t.id)}::text[], ${transfers.map((t) => t.brandId)}::text[],
        ${transfers.map((t) => t.reference)}::text[], ${transfers.map((t) => t.type)}::text[],
        ${transfers.map((t) => t.debitAccount)}::bigint[], ${transfers.map((t) => t.creditAccount)}::bigint[],
        ${transfers.map((t) => t.amount)}::bigint[], ${transfers.map((t) => t.outcome)}::text[],
        ${transfers.map((t) => t.reverses)}::text[], ${transfers.map((t) => t.reason)}::text[],
        ${transfers.map((t) => t.effectiveAt)}::timestamptz[]
      ) as t (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, reverses, reason, effective_at)
      order by t.brand_id, t.reference
    ), new_entry as (
      insert into entry (account_id, seq, transfer_id, amount, balance, hash)
      select e.*
      from unnest(
        ${entries.map((e) => e.accountId)}::bigint[], ${entries.map((e) => e.guarded?.seq ?? null)}::bigint[],
        ${entries.map((e) => e.transferId)}::text[], ${entries.map((e) => e.amount)}::bigint[],
        ${entries.map((e) => e.guarded?.balance ?? null)}::bigint[],
        ${entries.map((e) => e.guarded?.hash ?? null)}::bytea[]
      ) as e (account_id, seq, transfer_id, amount, balance, hash)
    ), kept_hold as (
      insert into hold (brand_id, reference, account_id, amount, state, transfer_id, opened_at, closed_at)
      select h.*
      from unnest(
        ${holds.map((h) => h.brandId)}::text[], ${holds.map((h) => h.reference)}::text[],
        ${holds.map((h) => h.accountId)}::bigint[], ${holds.map((h) => h.amount)}::bigint[],
        ${holds.map((h) => h.state)}::text[], ${holds.map((h) => h.transferId)}::text[],
        ${holds.map((h) => h.openedAt)}::timestamptz[], ${holds.map((h) => h.closedAt)}::timestamptz[]
      ) as h (brand_id, reference, account_id, amount, state, transfer_id, opened_at, closed_at)
      order by h.brand_id, h.reference
      on conflict (brand_id, reference) do update
        set state = excluded.state, transfer_id = excluded.transfer_id, closed_at = excluded.closed_at
    )
    update account a
    set posted = c.posted, held = c.held, seq = c.seq, head = c.head, updated_at = ${now}::timestamptz
    from unnest(
      ${accounts.map((c) => c.id)}::bigint[], ${accounts.map((c) => c.posted)}::bigint[],
      ${accounts.map((c) => c.held)}::bigint[], ${accounts.map((c) => c.seq)}::bigint[],
      ${accounts.map((c) => c.head)}::bytea[]
    ) as c (id, posted, held, seq, head)
    where a.id = c.id
  `
}
