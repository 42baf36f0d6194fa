import type { HandlersOf } from '@backoffice/service-runtime'
import type { Ledger } from '../steps/ledger.ts'
import type { TwoPeopleRule } from '../steps/two-people.ts'
import { adjustWallet } from './adjust-wallet.ts'
import { captureHold } from './capture-hold.ts'
import { creditAccount } from './credit-account.ts'
import { exportPlayer } from './export-player.ts'
import { exportStatement } from './export-statement.ts'
import { getWallet } from './get-wallet.ts'
import { listEntries } from './list-entries.ts'
import { listTransactions } from './list-transactions.ts'
import { openAccount } from './open-account.ts'
import { openHold } from './open-hold.ts'
import { readAccount } from './read-account.ts'
import { readBalance } from './read-balance.ts'
import { refuseCredit } from './refuse-credit.ts'
import { releaseHold } from './release-hold.ts'
import { reverseTransfer } from './reverse-transfer.ts'

export const handlers = (ledger: Ledger, twoPeople: TwoPeopleRule): HandlersOf<'wallet'> => ({
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
  adjustWallet: adjustWallet(ledger, twoPeople),
  reverseTransfer: reverseTransfer(ledger, twoPeople),
  exportPlayer,
  listEntries,
  exportStatement,
})
