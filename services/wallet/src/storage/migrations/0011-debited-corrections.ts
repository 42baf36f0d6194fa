import type { Migration } from '@backoffice/service-runtime/migrations'

/** As 0010 for credits: those that debited the account. */
export const debitedCorrections: Migration = {
  name: '0011_debited_corrections',
  transactional: false,
  sql: `create index concurrently correction_debited on wallet.transfer (debit_account, created_at)
    where outcome = 'posted' and type in ('ADJUSTMENT', 'REVERSAL')`,
}
