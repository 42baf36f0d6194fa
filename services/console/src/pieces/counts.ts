import { operations, Rejection, type ServiceName } from '@backoffice/contracts'
import { proposalsFor } from './open-proposals.ts'
import type { Visit } from './visit.ts'

const { countWithdrawalQueue } = operations.payments
const { countKycQueue } = operations.players

export type QueueName = 'kyc' | 'toReview' | 'toPay' | 'proposals'

/** How many wait in a queue, and since when the first does. */
export interface QueueState {
  readonly name: QueueName
  readonly path: string
  /** Null: the service that knows it does not answer. */
  readonly count: number | null
  readonly oldest: string | null
  readonly service?: ServiceName
}

const notKnown = { waiting: null, oldestAt: null }

/** The queues of a service that is away are there, without a number. */
const unlessAway =
  <Line>(...lines: readonly Line[]) =>
  (error: unknown): { readonly data: readonly Line[] } => {
    if (!(error instanceof Rejection) || error.code !== 'SERVICE_UNAVAILABLE') throw error
    return { data: lines }
  }
const unknownKyc = unlessAway(notKnown)
const unknownWithdrawals = unlessAway(
  { ...notKnown, status: 'under_review' as const },
  { ...notKnown, status: 'approved' as const },
)

/** The queues that this person may count, of one environment. */
export async function queueStates({ person, environment }: Visit): Promise<readonly QueueState[]> {
  const [kyc, withdrawals, proposals] = await Promise.all([
    person.mayCall(countKycQueue) ? person.call(countKycQueue, { environment }).catch(unknownKyc) : { data: [] },
    person.mayCall(countWithdrawalQueue)
      ? person.call(countWithdrawalQueue, { environment }).catch(unknownWithdrawals)
      : { data: [] },
    // In the sandbox one person is enough.
    environment === 'production' ? proposalsFor(person) : undefined,
  ])
  return [
    ...kyc.data.map(({ waiting, oldestAt }) => ({
      name: 'kyc' as const,
      path: '/kyc',
      count: waiting,
      oldest: oldestAt,
      service: 'players' as const,
    })),
    ...withdrawals.data.map(({ status, waiting, oldestAt }) => ({
      name: status === 'approved' ? ('toPay' as const) : ('toReview' as const),
      path: `/withdrawals?status=${status}`,
      count: waiting,
      oldest: oldestAt,
      service: 'payments' as const,
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
