import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Times of transfers and audit entries are written by the service, and could be wrong. Transaction ids are PostgreSQL's: by
 * them reconciliation tells what was entered after one of its runs. No release has ever written the column itself.
 */
export const reconciliationMoments: Migration = {
  name: '0009_reconciliation_moments',
  sql: `
revoke insert on wallet.entry from backoffice_wallet;
grant insert (account_id, seq, transfer_id, amount, balance, hash) on wallet.entry to backoffice_wallet;

-- A transaction of each reconciliation, and its time. The service names the run, and PostgreSQL says the rest.
create table wallet.reconciliation_moment (
  xid xid8 primary key default pg_current_xact_id(),
  at timestamptz not null default now(),
  run_id text not null
);
create trigger append_only before update or delete on wallet.reconciliation_moment
  for each row execute function wallet.refuse_change();
create trigger append_only_truncate before truncate on wallet.reconciliation_moment execute function wallet.refuse_change();
revoke all on wallet.reconciliation_moment from backoffice_wallet;
grant select, insert (run_id) on wallet.reconciliation_moment to backoffice_wallet;
`,
}
