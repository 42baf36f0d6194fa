import type { HandlersOf } from '@backoffice/service-runtime'
import {
  confirmDeposit,
  createDeposit,
  endCommand,
  failDeposit,
  listDeposits,
  readDayDeposits,
  showDeposit,
} from './deposits/operations.ts'
import { exportPlayer, forgetDestinations, readOpenRecords } from './players/operations.ts'
import { cancelWithdrawal, decideWithdrawal, decideWithdrawalInSandbox } from './withdrawals/decide.ts'
import {
  countWithdrawalQueue,
  getWithdrawal,
  listWithdrawals,
  showWithdrawal,
  withdrawalQueue,
} from './withdrawals/operations.ts'
import { type Intents, requestWithdrawal } from './withdrawals/request.ts'

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
