import type { Migration } from '@backoffice/service-runtime/migrations'

/** The sums of days that are held against limits are compared with the deposits. */
export const reconciledSums: Migration = {
  name: '0022_reconciled_sums',
  sql: 'grant select (player_id, day, day_total) on payments.depositor to backoffice_reconciler',
}
