import type { Migration } from '@backoffice/service-runtime/migrations'

/** What the reconciliation holds the ledger against, and no more: no stored reply, no session and no proposal. */
export const reconcilerRights: Migration = {
  name: '0023_reconciler_rights',
  sql: `
grant usage on schema payments to backoffice_reconciler;
grant select on payments.brand, payments.deposit, payments.withdrawal, payments.status_transition, payments.ended_command,
  payments.outbox, payments.published_event, payments.audit_entry to backoffice_reconciler;
`,
}
