import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Reconciliation looks whether every player has an account, or a command on the way that opens one. It may read no more
 * than that takes: nothing about a person, and no message.
 */
export const reconcilerRights: Migration = {
  name: '0003_reconciler_rights',
  sql: `
grant usage on schema players to backoffice_reconciler;
grant select (id, brand_id) on players.player to backoffice_reconciler;
grant select (aggregate, kind, name, created_at) on players.outbox to backoffice_reconciler;
`,
}
