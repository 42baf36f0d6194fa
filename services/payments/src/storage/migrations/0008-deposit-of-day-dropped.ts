import type { Migration } from '@backoffice/service-runtime/migrations'

/** The deposits of a player's day are found through `deposit_of_player`. */
export const depositOfDayDropped: Migration = {
  name: '0008_deposit_of_day_dropped',
  transactional: false,
  sql: 'drop index concurrently if exists payments.deposit_of_day',
}
