import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { settle, settlingDeposits } from '../steps/settle-deposits.ts'

export const failDeposit = handle(operations.payments.failDeposit, {
  ...settlingDeposits,
  decide: (call, found, { now }) => settle(call, found, { command: 'fail', now }),
})
