import type { Migration } from '@backoffice/service-runtime/migrations'

/** When an approval ends by itself. Null: it does not. It is kept with the decision, so a later setting changes no earlier one. */
export const kycTerm: Migration = {
  name: '0024_kyc_term',
  sql: 'alter table players.player add column kyc_expires_at timestamptz',
}
