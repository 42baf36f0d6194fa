import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Times of transfers and audit entries are written by the service, and could be wrong. Transaction ids are PostgreSQL's: by
 * them reconciliation tells what was entered after one of its runs.
 */
export const entriesStamped: Migration = {
  name: '0009_entries_stamped',
  sql: `
revoke insert on wallet.entry from backoffice_wallet;
grant insert (account_id, seq, transfer_id, amount, balance, hash) on wallet.entry to backoffice_wallet;
`,
}
