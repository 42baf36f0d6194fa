import type { Migration } from '@backoffice/service-runtime'

/** The team lists the players of a status that few have: the others are not read for them. */
export const playersByStatus: Migration = {
  name: '0008_players_by_status',
  transactional: false,
  sql: `
create index concurrently player_of_status on players.player (environment, status, id) where status <> 'ativo'
`,
}
