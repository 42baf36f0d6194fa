import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team lists a player's withdrawals, newest first. */
export const withdrawalsOfPlayer: Migration = {
  name: '0015_withdrawals_of_player',
  transactional: false,
  sql: 'create index concurrently withdrawal_of_player on payments.withdrawal (player_id, id)',
}
