import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Of each delivery two rows are left dead, and in the end the third is purged: vacuum comes after a fiftieth of the table
 * instead of a fifth.
 */
export const deliveryUpkeep: Migration = {
  name: '0004_delivery_upkeep',
  sql: `
alter table webhooks.delivery set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table webhooks.attempt set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
`,
}
