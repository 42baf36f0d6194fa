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
import * as money from './money/operations.ts'
import { closeRound, creditWin, listHeldRounds, readTransaction, rollbackBet, stake } from './rounds/operations.ts'
import { endRound, listHeldWins, listWinLimits, releaseWin, setWinLimit, voidRound } from './rounds/team-decisions.ts'
import * as teamRounds from './rounds/team-operations.ts'
import * as statement from './statement/operations.ts'

interface Settings {
  readonly approverOf: CorrectionApprover
  /** What one win may be without two people where nothing else was set, in minor units. */
  readonly maxWin: bigint
}

export const handlers = (ledger: Ledger, { approverOf, maxWin }: Settings): HandlersOf<'wallet'> => ({
  ...statement,
  ...teamRounds,
  ...money,
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
  stake: stake(ledger, maxWin),
  creditWin: creditWin(ledger, maxWin),
  rollbackBet: rollbackBet(ledger),
  closeRound: closeRound(ledger),
  readTransaction,
  listHeldRounds,
  voidRound: voidRound(ledger),
  endRound: endRound(ledger),
  listHeldWins,
  releaseWin,
  listWinLimits: listWinLimits(maxWin),
  setWinLimit: setWinLimit(maxWin),
})
