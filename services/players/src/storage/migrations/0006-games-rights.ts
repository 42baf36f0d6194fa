import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * The public games serve anybody, so they have a login of their own. It finds a demonstration by its token, changes its
 * balance, and reads the catalogue. It does not learn whose session it is, and nothing else is open to it.
 */
export const gamesRights: Migration = {
  name: '0006_games_rights',
  sql: `
grant usage on schema players to backoffice_games;
grant select (id, name, provider) on players.game to backoffice_games;
grant select (token_sha256, game_id, demo_balance, expires_at) on players.game_session to backoffice_games;
grant update (demo_balance) on players.game_session to backoffice_games;
`,
}
