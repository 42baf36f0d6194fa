import type { Migration } from '@backoffice/service-runtime'

/** The team lists the players of all brands of one environment, newest first: the sandbox's are not read for production's. */
export const playersByEnvironment: Migration = {
  name: '0005_players_by_environment',
  transactional: false,
  sql: `
create index concurrently player_of_environment on players.player (environment, id)
`,
}
