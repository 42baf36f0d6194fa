import type { Migration } from '@backoffice/service-runtime/migrations'

/** Reconciliation holds decisions on identities against the audit trail. It reads no reason and nothing else of a person. */
export const reconcilerKyc: Migration = {
  name: '0023_reconciler_kyc',
  sql: `
grant select (kyc_status) on players.player to backoffice_reconciler;
grant select (id, player_id, at, actor, field, next) on players.player_change to backoffice_reconciler;
grant select (at, actor, actor_id, operation, subject, input, outcome, session, proof) on players.audit_entry to backoffice_reconciler;
`,
}
