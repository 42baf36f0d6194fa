import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { decide } from '../settlement/decide-withdrawal.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

export const cancelWithdrawal = command(operations.payments.cancelWithdrawal, {
  async execute({ input: { withdrawalId }, scope, operationId }, tools) {
    const by = { kind: 'operator', name: scope.operatorId } as const
    return publicWithdrawal(await decide(tools, 'cancel', { withdrawalId, brandId: scope.brandId, by, operationId }))
  },
})
