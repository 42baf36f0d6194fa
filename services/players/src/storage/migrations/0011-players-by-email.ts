import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team finds players by e-mail address. */
export const playersByEmail: Migration = {
  name: '0011_players_by_email',
  transactional: false,
  sql: `create index concurrently player_email_digest on players.player (email_digest)
    where email_digest is not null`,
}
