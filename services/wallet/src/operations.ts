import type { HandlersOf } from '@backoffice/service-runtime'
import { adjustWallet, type CorrectionApprover, reverseTransfer } from './corrections/operations.ts'
import type { HeadStore } from './heads/store.ts'
import type { Ledger } from './ledger/ledger.ts'
import {
  captureHold,
  creditAccount,
  getWallet,
  openAccount,
  openHold,
  readAccount,
  readBalance,
  refuseCredit,
  releaseHold,
} from './ledger/operations.ts'
import { listReconciliations } from './operations/list-reconciliations.ts'
import { reconcileWallet } from './operations/reconcile-wallet.ts'
import { recordRestore } from './operations/record-restore.ts'
import type { Reconciler } from './reconciliation/reconciler.ts'
import { exportPlayer, exportStatement, listEntries, listTransactions } from './statement/operations.ts'

export const handlers = (
  ledger: Ledger,
  reconciler: Reconciler,
  heads: HeadStore | undefined,
  approverOf: CorrectionApprover,
): HandlersOf<'wallet'> => ({
  getWallet,
  listTransactions,
  readBalance,
  readAccount,
  openAccount: openAccount(ledger),
  creditAccount: creditAccount(ledger),
  refuseCredit: refuseCredit(ledger),
  openHold: openHold(ledger),
  captureHold: captureHold(ledger),
  releaseHold: releaseHold(ledger),
  adjustWallet: adjustWallet(ledger, approverOf),
  reverseTransfer: reverseTransfer(ledger, approverOf),
  exportPlayer,
  listEntries,
  exportStatement,
  reconcileWallet: reconcileWallet(reconciler),
  listReconciliations,
  recordRestore: recordRestore(heads),
})
