import { operations } from '@backoffice/contracts'
import { readQueue } from './queue.ts'
import type { Visit } from './visit.ts'

const { withdrawalQueue } = operations.payments
const { kycQueue } = operations.players

/** How many wait in a queue, and since when the first does. */
export interface QueueState {
  readonly name: 'kyc' | 'toReview' | 'toPay'
  readonly path: string
  /** Such as `12`, or `50+` where there are more than were looked at. */
  readonly count: string
  readonly oldest: string | undefined
}

/** The queues that this person may read. */
export async function queueStates(visit: Visit): Promise<readonly QueueState[]> {
  const { person } = visit
  const states = [
    ...(person.mayCall(kycQueue) ? [kycState(visit)] : []),
    ...(person.mayCall(withdrawalQueue)
      ? [withdrawalState(visit, 'toReview', 'under_review'), withdrawalState(visit, 'toPay', 'approved')]
      : []),
  ]
  return Promise.all(states)
}

async function kycState({ person, environment }: Visit): Promise<QueueState> {
  const { rows, nextCursor } = await readQueue(environment, undefined, (after) =>
    person.call(kycQueue, { limit: 100, ...(after === undefined ? {} : { after }) }),
  )
  return { name: 'kyc', path: '/kyc', count: countOf(rows, nextCursor), oldest: rows[0]?.waitingSince }
}

async function withdrawalState(
  { person, environment }: Visit,
  name: 'toReview' | 'toPay',
  status: 'under_review' | 'approved',
): Promise<QueueState> {
  const { rows, nextCursor } = await readQueue(environment, undefined, (after) =>
    person.call(withdrawalQueue, { limit: 100, status, ...(after === undefined ? {} : { after }) }),
  )
  const path = `/withdrawals?status=${status}`
  return { name, path, count: countOf(rows, nextCursor), oldest: rows[0]?.createdAt }
}

const countOf = (rows: readonly unknown[], nextCursor: string | undefined): string =>
  nextCursor === undefined ? String(rows.length) : `${rows.length}+`
