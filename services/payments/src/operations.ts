import type { HandlersOf } from '@backoffice/service-runtime'
import * as deposits from './deposits/operations.ts'
import * as files from './files/operations.ts'
import { exportPlayer, forgetDestinations, readOpenRecords } from './players/operations.ts'
import * as decisions from './withdrawals/decide.ts'
import * as withdrawals from './withdrawals/operations.ts'
import { type Intents, requestWithdrawal } from './withdrawals/request.ts'

export const handlers = ({
  intents,
  payAloneUpTo,
}: {
  readonly intents: Intents
  readonly payAloneUpTo: bigint
}): HandlersOf<'payments'> => ({
  ...deposits,
  ...withdrawals,
  ...decisions,
  ...files,
  requestWithdrawal: requestWithdrawal({ intents }),
  withdrawalQueue: withdrawals.withdrawalQueue({ payAloneUpTo }),
  showWithdrawal: withdrawals.showWithdrawal({ payAloneUpTo }),
  decideWithdrawal: decisions.decideWithdrawal({ payAloneUpTo }),
  readOpenRecords,
  forgetDestinations,
  exportPlayer,
})
