import type { Migration } from '@backoffice/service-runtime'

/** The limits that were raised today are found without the other changes. The team sets limits, and no request of an operator does. */
export const changesOfLimits: Migration = {
  name: '0004_changes_of_limits',
  transactional: false,
  sql: `create index concurrently player_change_of_limit on players.player_change (at, id) where field = 'dailyDepositLimit'`,
}
