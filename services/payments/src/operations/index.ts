import type { HandlersOf } from '@backoffice/service-runtime'
import type { Intents } from '../steps/intents.ts'
import { cancelWithdrawal } from './cancel-withdrawal.ts'
import { confirmDeposit } from './confirm-deposit.ts'
import { countWithdrawalQueue } from './count-withdrawal-queue.ts'
import { createDeposit } from './create-deposit.ts'
import { decideWithdrawal } from './decide-withdrawal.ts'
import { decideWithdrawalInSandbox } from './decide-withdrawal-in-sandbox.ts'
import { endCommand } from './end-command.ts'
import { exportPlayer } from './export-player.ts'
import { failDeposit } from './fail-deposit.ts'
import { forgetDestinations } from './forget-destinations.ts'
import { getWithdrawal } from './get-withdrawal.ts'
import { listDeposits } from './list-deposits.ts'
import { listWithdrawals } from './list-withdrawals.ts'
import { readDayDeposits } from './read-day-deposits.ts'
import { readOpenRecords } from './read-open-records.ts'
import { requestWithdrawal } from './request-withdrawal.ts'
import { showDeposit } from './show-deposit.ts'
import { showWithdrawal } from './show-withdrawal.ts'
import { withdrawalQueue } from './withdrawal-queue.ts'

export const handlers = ({
  intents,
  payAloneUpTo,
}: {
  readonly intents: Intents
  readonly payAloneUpTo: bigint
}): HandlersOf<'payments'> => ({
  createDeposit,
  confirmDeposit,
  failDeposit,
  requestWithdrawal: requestWithdrawal({ intents }),
  getWithdrawal,
  cancelWithdrawal,
  decideWithdrawalInSandbox,
  readDayDeposits,
  readOpenRecords,
  forgetDestinations,
  exportPlayer,
  showDeposit,
  listDeposits,
  showWithdrawal: showWithdrawal({ payAloneUpTo }),
  listWithdrawals,
  withdrawalQueue,
  countWithdrawalQueue,
  decideWithdrawal: decideWithdrawal({ payAloneUpTo }),
  endCommand,
})
