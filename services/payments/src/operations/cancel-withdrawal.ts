import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { decideOnWithdrawal, decidingWithdrawals } from '../steps/decide-withdrawals.ts'
import { ofBrand } from '../storage/scope.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

export const cancelWithdrawal = handle(operations.payments.cancelWithdrawal, {
  ...decidingWithdrawals,
  decide(call, found, { now }) {
    const { brandId, operatorId } = call.scope
    const by = { kind: 'operator', name: operatorId } as const
    const { withdrawal, ...decided } = decideOnWithdrawal(call, ofBrand(found, brandId), {
      decision: 'cancel',
      by,
      now,
    })
    return { reply: publicWithdrawal(withdrawal), ...decided }
  },
})
