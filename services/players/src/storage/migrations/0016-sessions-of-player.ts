import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team reads a player's game sessions page by page, newest first. */
export const sessionsOfPlayer: Migration = {
  name: '0016_sessions_of_player',
  transactional: false,
  sql: 'create index concurrently game_session_of_player on players.game_session (player_id, id)',
}
