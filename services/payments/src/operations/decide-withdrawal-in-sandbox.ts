import assert from 'node:assert/strict'
import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { decide } from '../settlement/decide-withdrawal.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

export const decideWithdrawalInSandbox = command(operations.payments.decideWithdrawalInSandbox, {
  async execute({ input: { withdrawalId, decision, reason }, scope, operationId }, tools) {
    // The gateway has refused production with SANDBOX_ONLY long before.
    assert.equal(scope.environment, 'sandbox')
    const by = { kind: 'sandbox', name: scope.operatorId } as const
    const call = { withdrawalId, brandId: scope.brandId, by, operationId, reason }
    return publicWithdrawal(await decide(tools, decision, call))
  },
})
