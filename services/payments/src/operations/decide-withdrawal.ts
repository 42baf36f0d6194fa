import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { decideOnWithdrawal, decidingWithdrawals } from '../steps/decide-withdrawals.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

export const decideWithdrawal = handle(operations.payments.decideWithdrawal, {
  ...decidingWithdrawals,
  decide(call, found, { now }) {
    const by = { kind: 'team', name: call.actor } as const
    const { withdrawal, ...decided } = decideOnWithdrawal(call, found, { decision: call.input.decision, by, now })
    // The reply is sent only when the wallet has done its part.
    return { reply: teamWithdrawal({ ...withdrawal, settling: false }), ...decided }
  },
})
