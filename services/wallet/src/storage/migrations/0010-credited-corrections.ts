import type { Migration } from '@backoffice/service-runtime/migrations'

/** A player's corrections of a day, which count together where one person made them: those that credited the account. */
export const creditedCorrections: Migration = {
  name: '0010_credited_corrections',
  transactional: false,
  sql: `create index concurrently correction_credited on wallet.transfer (credit_account, created_at)
    where outcome = 'posted' and type in ('ADJUSTMENT', 'REVERSAL')`,
}
