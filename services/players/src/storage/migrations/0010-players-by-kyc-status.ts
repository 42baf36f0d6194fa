import type { Migration } from '@backoffice/service-runtime'

/** The same of what few identity checks have come to. */
export const playersByKycStatus: Migration = {
  name: '0010_players_by_kyc_status',
  transactional: false,
  sql: `
create index concurrently player_of_kyc_status on players.player (environment, kyc_status, id)
  where kyc_status not in ('aprovado', 'nao_iniciado')
`,
}
