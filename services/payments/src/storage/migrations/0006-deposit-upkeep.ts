import type { Migration } from '@backoffice/service-runtime/migrations'

/** Each confirmation leaves a row of a deposit dead. A fifth of all deposits ever made would be too many to wait for. */
export const depositUpkeep: Migration = {
  name: '0006_deposit_upkeep',
  sql: 'alter table payments.deposit set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02)',
}
