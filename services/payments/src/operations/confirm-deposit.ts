import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { settle } from '../settlement/settle-deposit.ts'
import { publicDeposit } from '../views/deposit.ts'

export const confirmDeposit = command(operations.payments.confirmDeposit, {
  async execute({ input: { depositId }, scope, operationId }, tools) {
    return publicDeposit(await settle(tools, 'confirm', { depositId, scope, operationId }))
  },
})
