import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { decideOnWithdrawal, decidingWithdrawals } from '../steps/decide-withdrawals.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

/** @param payAloneUpTo in production one person may approve and pay up to this amount, in minor units */
export const decideWithdrawal = ({ payAloneUpTo }: { readonly payAloneUpTo: bigint }) =>
  handle(operations.payments.decideWithdrawal, {
    ...decidingWithdrawals,
    decide(call, found, { now }) {
      const { decision } = call.input
      const by = { kind: 'team', name: call.actor } as const
      const { withdrawal, ...decided } = decideOnWithdrawal(call, found, { decision, by, now, payAloneUpTo })
      // The reply is sent only when the wallet has done its part.
      return { reply: teamWithdrawal({ ...withdrawal, settling: false }), ...decided }
    },
  })
