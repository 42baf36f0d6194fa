import type { Migration } from '@backoffice/service-runtime/migrations'

export const incrementalReconciliation: Migration = {
  name: '0005_incremental_reconciliation',
  sql: `
-- How far an account's entries were verified: their number, their sum and, of a player's, the hash of the last one. All of
-- them are of transactions below the given one. It counts only when a run that went as far has ended.
create table wallet.account_checkpoint (
  account_id bigint primary key,
  entries bigint not null,
  balance numeric(38) not null,
  hash bytea,
  below xid8 not null
) with (fillfactor = 80);

-- Where the next incremental run begins: after the transactions below the given one, and the moment before which
-- everything was looked at. One row, written when a run ends.
create table wallet.reconciliation_checkpoint (
  only_row boolean primary key default true check (only_row),
  run_id text collate "C" not null,
  below xid8 not null,
  at timestamptz not null,
  -- When the last full run that ended began.
  full_at timestamptz not null,
  -- The differences that the next run looks at again.
  open json not null
);

alter table wallet.reconciliation add column is_full boolean not null;
`,
}
