import type { Migration } from '@backoffice/service-runtime/migrations'

/** Reconciliation looks for the decisions since its last run. */
export const kycChanges: Migration = {
  name: '0028_kyc_changes',
  transactional: false,
  sql: `create index concurrently player_change_of_kyc on players.player_change (at, id) where field = 'kycStatus'`,
}
