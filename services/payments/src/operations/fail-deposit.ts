import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { confirmOrFail, settlingDeposits } from '../steps/settle-deposits.ts'

export const failDeposit = handle(operations.payments.failDeposit, {
  ...settlingDeposits,
  decide: (call, found, { now }) => confirmOrFail(call, found, { command: 'fail', now }),
})
