import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'
import { showWithHistory } from './history.ts'

const { withdrawalQueue, showWithdrawal, decideWithdrawal } = operations.payments

const decisions = {
  approve: 'Approve a withdrawal under review; it waits for its payment',
  reject: 'Reject a withdrawal under review; its money is free again',
  pay: 'Record that an approved withdrawal was paid: the wallet is debited',
  fail: 'Record that the payment of an approved withdrawal failed; its money is free again',
} as const

export const withdrawals = [
  row({
    path: 'withdrawals queue',
    operation: withdrawalQueue,
    wording: { status: { default: 'under_review' } },
    columns: [
      ['withdrawal', 'id'],
      'environment',
      ['amount', ({ amount, currency }) => `${amount} ${currency}`],
      'available',
      ['destination', ({ method, destination }) => `${method} ${destination}`],
      ['player', 'playerId'],
      ['player status', ({ playerStatus, selfExcluded }) => playerStatus + (selfExcluded ? ', self-excluded' : '')],
      ['kyc', 'kycStatus'],
      ['created', 'createdAt'],
    ],
  }),
  row({ path: 'withdrawals show', operation: showWithdrawal, arguments: ['withdrawalId'], show: showWithHistory }),
  ...(Object.keys(decisions) as (keyof typeof decisions)[]).map((decision) =>
    row({
      path: `withdrawals ${decision}`,
      operation: decideWithdrawal,
      description: decisions[decision],
      arguments: ['withdrawalId'],
      fixed: { decision },
      // An approval can still be followed by a failure; the other decisions are final.
      confirm: ({ withdrawalId }) => (decision === 'approve' ? undefined : `${decision} ${withdrawalId}?`),
    }),
  ),
]
