import type { Migration } from '@backoffice/service-runtime/migrations'

export const refusedCredits: Migration = {
  name: '0004_refused_credits',
  sql: `
-- A credit that two people of the team gave up is kept, so that it does nothing when it arrives late. Not validated: that
-- would read the whole ledger under a lock, and what is there fits the narrower list.
alter table wallet.transfer drop constraint transfer_outcome_check, add constraint transfer_outcome_check
  check (outcome in ('posted', 'insufficient_funds', 'refused')) not valid;
`,
}
