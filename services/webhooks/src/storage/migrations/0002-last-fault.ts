import type { Migration } from '@backoffice/service-runtime'

/** Why the latest attempt at an endpoint's URL failed: of its deliveries, many may not have been tried since. */
export const lastFault: Migration = {
  name: '0002_last_fault',
  sql: `
alter table webhooks.endpoint
  add column last_fault_at timestamptz,
  -- Null where no response came.
  add column last_fault_status integer,
  add column last_fault text;
`,
}
