import type { Migration } from '@backoffice/service-runtime/migrations'

/** A period is read through `transfer_by_time`, which does without the id. */
export const transferOfPeriodDropped: Migration = {
  name: '0007_transfer_of_period_dropped',
  transactional: false,
  sql: 'drop index concurrently if exists wallet.transfer_of_period',
}
