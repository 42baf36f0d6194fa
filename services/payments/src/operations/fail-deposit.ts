import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { settle } from '../settlement/settle-deposit.ts'
import { publicDeposit } from '../views/deposit.ts'

export const failDeposit = command(operations.payments.failDeposit, {
  async execute({ input: { depositId, reason }, scope, operationId }, tools) {
    return publicDeposit(await settle(tools, 'fail', { depositId, scope, operationId, reason }))
  },
})
