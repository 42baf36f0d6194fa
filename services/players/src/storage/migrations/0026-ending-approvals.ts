import type { Migration } from '@backoffice/service-runtime/migrations'

/** Approvals that have ended are looked for all the time. */
export const endingApprovals: Migration = {
  name: '0026_ending_approvals',
  transactional: false,
  sql: `create index concurrently player_kyc_expires on players.player (kyc_expires_at)
    where kyc_status = 'aprovado' and kyc_expires_at is not null`,
}
