import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team finds players by telephone number. */
export const playersByPhone: Migration = {
  name: '0020_players_by_phone',
  transactional: false,
  sql: `create index concurrently player_phone_digest on players.player (phone_digest)
    where phone_digest is not null`,
}
