import type { Migration } from '@backoffice/service-runtime'

/** What withdrawals to one destination are found by, though it is sealed: a keyed digest. */
export const destinationDigest: Migration = {
  name: '0002_destination_digest',
  sql: `
-- Null: written by the release before, or anonymised.
alter table payments.withdrawal add column destination_digest text collate "C";
`,
}
