import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team finds players by the words of their names. */
export const playersByName: Migration = {
  name: '0013_players_by_name',
  transactional: false,
  sql: 'create index concurrently player_name_words on players.player using gin (players.name_words(name))',
}
