import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { decide } from '../settlement/decide-withdrawal.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

export const decideWithdrawal = command(operations.payments.decideWithdrawal, {
  async execute({ input: { brandId, withdrawalId, decision, reason }, actor, operationId }, tools) {
    const by = { kind: 'team', name: actor } as const
    const withdrawal = await decide(tools, decision, { withdrawalId, brandId, by, operationId, reason })
    // The reply leaves only once the wallet has done its part.
    return teamWithdrawal(withdrawal, { settling: false })
  },
})
