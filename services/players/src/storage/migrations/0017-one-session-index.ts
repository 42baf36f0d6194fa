import type { Migration } from '@backoffice/service-runtime/migrations'

/** The index of 0016 begins with the player too, so it serves every query of the one that is dropped here. */
export const oneSessionIndex: Migration = {
  name: '0017_one_session_index',
  transactional: false,
  sql: 'drop index concurrently if exists players.game_session_player',
}
