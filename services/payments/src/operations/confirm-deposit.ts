import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { settle, settlingDeposits } from '../steps/settle-deposits.ts'

export const confirmDeposit = handle(operations.payments.confirmDeposit, {
  ...settlingDeposits,
  decide: (call, found, { now }) => settle(call, found, { command: 'confirm', now }),
})
