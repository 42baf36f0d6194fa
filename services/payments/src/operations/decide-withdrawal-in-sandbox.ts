import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { decideOnWithdrawal, decidingWithdrawals } from '../steps/decide-withdrawals.ts'
import { ofBrand } from '../storage/scope.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

export const decideWithdrawalInSandbox = handle(operations.payments.decideWithdrawalInSandbox, {
  ...decidingWithdrawals,
  decide(call, found, { now }) {
    const { brandId, operatorId } = call.scope
    const by = { kind: 'sandbox', name: operatorId } as const
    const { decision } = call.input
    const { withdrawal, ...decided } = decideOnWithdrawal(call, ofBrand(found, brandId), { decision, by, now })
    return { reply: publicWithdrawal(withdrawal), ...decided }
  },
})
