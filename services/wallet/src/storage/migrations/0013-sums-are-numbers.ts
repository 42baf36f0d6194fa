import type { Migration } from '@backoffice/service-runtime/migrations'

/** Reconciliation reads what any service may have written, and no row may keep it from reading the others. */
export const sumsAreNumbers: Migration = {
  name: '0013_sums_are_numbers',
  sql: `
-- Entries are numbered from one, where chains are read from. Not validated: that would read every row under a lock.
alter table wallet.entry add check (seq > 0) not valid;
alter table wallet.system_checkpoint add check (balance <> 'NaN') not valid;
`,
}
