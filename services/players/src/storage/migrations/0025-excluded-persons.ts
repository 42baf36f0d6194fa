import type { Migration } from '@backoffice/service-runtime/migrations'

/** Self-exclusions are of the person: whether one runs is asked by the CPF, at every deposit and session. */
export const excludedPersons: Migration = {
  name: '0025_excluded_persons',
  transactional: false,
  sql: `create index concurrently player_excluded_person on players.player (brand_id, cpf_digest)
    where status = 'autoexcluido' or self_excluded_from is not null`,
}
