import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team finds players by CPF. */
export const playersByCpf: Migration = {
  name: '0010_players_by_cpf',
  transactional: false,
  sql: `create index concurrently player_cpf_digest on players.player (cpf_digest) where cpf_digest is not null`,
}
