import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { confirmOrFail, settlingDeposits } from '../steps/settle-deposits.ts'

export const confirmDeposit = handle(operations.payments.confirmDeposit, {
  ...settlingDeposits,
  decide: (call, found, { now }) => confirmOrFail(call, found, { command: 'confirm', now }),
})
