import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Of each delivery two rows are left dead, and in the end the third is purged: vacuum comes after a fiftieth of the table
 * instead of a fifth. An event is found by the index that holds its id behind the endpoint's, of which there are few.
 */
export const deliveryUpkeep: Migration = {
  name: '0004_delivery_upkeep',
  sql: `
drop index webhooks.delivery_event;
alter table webhooks.delivery set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table webhooks.attempt set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
`,
}
