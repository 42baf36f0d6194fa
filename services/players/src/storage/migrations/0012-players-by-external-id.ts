import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team finds players by externalId, of whatever brand. */
export const playersByExternalId: Migration = {
  name: '0012_players_by_external_id',
  transactional: false,
  sql: 'create index concurrently player_external_id on players.player (external_id)',
}
