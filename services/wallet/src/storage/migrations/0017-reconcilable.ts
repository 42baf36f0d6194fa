import { type Migration, reconcilableViews, shownToReconciler } from '@backoffice/service-runtime/migrations'

/**
 * What reconciliation compares. The ledger itself it reads as it is, since the hash chains cover every column of it; of the
 * trail it reads also what proves corrections.
 */
export const reconcilable: Migration = {
  name: '0017_reconcilable',
  sql: `
${reconcilableViews('wallet')}
grant select on wallet.account, wallet.transfer, wallet.entry, wallet.hold, wallet.system_checkpoint, wallet.brand
  to backoffice_reconciler;
${shownToReconciler('wallet', {
  reconcilable_correction: `
  select * from wallet.audit_evidence where operation in ('adjustWallet', 'reverseTransfer')`,
})}
`,
}
