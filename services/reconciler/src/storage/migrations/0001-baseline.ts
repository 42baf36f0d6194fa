import { appendOnly, type Migration } from '@backoffice/service-runtime'
import { jsonText } from '@backoffice/team-access/migrations'

/** Runs with their reports, how far the last one came, and what it verified. */
export const baseline: Migration = {
  name: '0001_baseline',
  sql: `
create table reconciler.reconciliation (
  id text collate "C" primary key,
  started_by text not null,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  state text not null check (state in ('running', 'done', 'failed')),
  is_full boolean not null,
  progress json not null,
  report json,
  failure text
);

-- Where the next incremental run begins: after the transactions below the given one, and the moment before which
-- everything was looked at. One row, written when a run ends.
create table reconciler.checkpoint (
  only_row boolean primary key default true check (only_row),
  run_id text collate "C" not null,
  below xid8 not null,
  at timestamptz not null,
  -- When the last full run that ended began.
  full_at timestamptz not null,
  -- The differences that the next run looks at again.
  open json not null
);

-- How far an account's entries were verified: their number, their sum and, of a player's, the hash of the last one. All of
-- them are of transactions below the given one. It counts only when a run that went as far has ended.
create table reconciler.account_checkpoint (
  account_id bigint primary key,
  entries bigint not null,
  balance numeric(38) not null check (balance <> 'NaN'),
  hash bytea,
  below xid8 not null
) with (fillfactor = 80);

-- A transaction of each run, and its time. The run is named, and PostgreSQL says the rest.
create table reconciler.moment (
  xid xid8 primary key default pg_current_xact_id(),
  at timestamptz not null default now(),
  run_id text not null
);
${appendOnly('reconciler.moment')}
revoke all on reconciler.moment from backoffice_reconciler;
grant select, insert (run_id) on reconciler.moment to backoffice_reconciler;
${jsonText('reconciler')}
`,
}
