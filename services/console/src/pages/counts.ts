import { operations } from '@backoffice/contracts'
import { proposalsFor } from './open-proposals.ts'
import type { Visit } from './visit.ts'

const { countWithdrawalQueue } = operations.payments
const { countKycQueue } = operations.players

export type QueueName = 'kyc' | 'toReview' | 'toPay' | 'proposals'

/** How many wait in a queue, and since when the first does. */
export interface QueueState {
  readonly name: QueueName
  readonly path: string
  readonly count: number
  readonly oldest: string | null
}

/** The queues that this person may count, of one environment. */
export async function queueStates({ person, environment }: Visit): Promise<readonly QueueState[]> {
  const [kyc, withdrawals, proposals] = await Promise.all([
    person.mayCall(countKycQueue) ? person.call(countKycQueue, { environment }) : { data: [] },
    person.mayCall(countWithdrawalQueue) ? person.call(countWithdrawalQueue, { environment }) : { data: [] },
    // In the sandbox one person is enough.
    environment === 'production' ? proposalsFor(person) : undefined,
  ])
  return [
    ...kyc.data.map(({ waiting, oldestAt }) => ({
      name: 'kyc' as const,
      path: '/kyc',
      count: waiting,
      oldest: oldestAt,
    })),
    ...withdrawals.data.map(({ status, waiting, oldestAt }) => ({
      name: status === 'approved' ? ('toPay' as const) : ('toReview' as const),
      path: `/withdrawals?status=${status}`,
      count: waiting,
      oldest: oldestAt,
    })),
    ...(proposals === undefined
      ? []
      : [
          {
            name: 'proposals' as const,
            path: '/proposals',
            count: proposals.length,
            oldest: proposals.at(-1)?.proposedAt ?? null,
          },
        ]),
  ]
}
