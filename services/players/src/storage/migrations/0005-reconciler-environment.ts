import type { Migration } from '@backoffice/service-runtime/migrations'

/** Reconciliation tells differences of the sandbox from those of production. */
export const reconcilerEnvironment: Migration = {
  name: '0005_reconciler_environment',
  sql: 'grant select (environment) on players.player to backoffice_reconciler',
}
