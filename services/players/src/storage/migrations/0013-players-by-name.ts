import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * The team finds players by the words of their names. Without a list of pending entries, which one registration would have to
 * put into the index for thousands of others.
 */
export const playersByName: Migration = {
  name: '0013_players_by_name',
  transactional: false,
  sql: 'create index concurrently player_name_words on players.player using gin (players.name_words(name)) with (fastupdate = off)',
}
