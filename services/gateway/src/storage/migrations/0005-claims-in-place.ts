import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * A claim is written twice: when its key is claimed, and when the reply is there, which is nearly twice as long as the rest.
 * With room on its page the second writing needs no new entries in the indexes, and takes the place of others' first. Rows
 * that are there already stay as they are.
 */
export const claimsInPlace: Migration = {
  name: '0005_claims_in_place',
  sql: `
alter table gateway.claim set (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table gateway.used_signature set (autovacuum_vacuum_scale_factor = 0.02);
`,
}
