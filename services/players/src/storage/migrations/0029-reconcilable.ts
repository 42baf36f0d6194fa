import { type Migration, reconcilableViews, shownToReconciler } from '@backoffice/service-runtime/migrations'

/**
 * Reconciliation looks whether every player has an account, or a command on the way that opens one, and verifies who decided
 * on identities. It sees nothing else about a person; a decision's reason is among what was signed.
 */
export const reconcilable: Migration = {
  name: '0029_reconcilable',
  sql: `
${reconcilableViews('players')}
${shownToReconciler('players', {
  reconcilable_player: `
  select id, brand_id, environment, kyc_status from players.player`,
  reconcilable_kyc_change: `
  select id, player_id, at, actor, next from players.player_change where field = 'kycStatus'`,
  reconcilable_kyc_decision: `
  select * from players.audit_evidence where operation = 'decideKyc'`,
})}
`,
}
