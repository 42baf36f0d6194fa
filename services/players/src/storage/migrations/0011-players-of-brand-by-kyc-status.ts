import type { Migration } from '@backoffice/service-runtime'

/** The same of one brand. */
export const playersOfBrandByKycStatus: Migration = {
  name: '0011_players_of_brand_by_kyc_status',
  transactional: false,
  sql: `
create index concurrently player_brand_kyc_status on players.player (brand_id, kyc_status, id)
  where kyc_status not in ('aprovado', 'nao_iniciado')
`,
}
