import type { Migration } from '@backoffice/service-runtime'

/** The same of one brand. */
export const playersOfBrandByStatus: Migration = {
  name: '0009_players_of_brand_by_status',
  transactional: false,
  sql: `
create index concurrently player_brand_status on players.player (brand_id, status, id) where status <> 'ativo'
`,
}
