import type { HandlersOf } from '@backoffice/service-runtime'
import { adjustWallet, type CorrectionApprover, reverseTransfer } from './corrections/operations.ts'
import {
  captureHold,
  creditAccount,
  getWallet,
  type Ledger,
  openAccount,
  openHold,
  readAccount,
  readBalance,
  refuseCredit,
  releaseHold,
} from './ledger/ledger.ts'
import * as statement from './statement/operations.ts'

export const handlers = (ledger: Ledger, approverOf: CorrectionApprover): HandlersOf<'wallet'> => ({
  ...statement,
  getWallet,
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
})
