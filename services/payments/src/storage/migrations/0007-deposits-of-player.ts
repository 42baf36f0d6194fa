import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Takes the place of an index that named the status. No index names what a confirmation changes now, so a confirmation
 * needs no new entry in any of them.
 */
export const depositsOfPlayer: Migration = {
  name: '0007_deposits_of_player',
  transactional: false,
  sql: 'create index concurrently deposit_of_player on payments.deposit (player_id, created_at)',
}
