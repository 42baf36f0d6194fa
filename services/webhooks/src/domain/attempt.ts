import type { DeliveryState } from '@backoffice/contracts'
import { parseRetryAfterMs, retryDelayMs } from './retry-schedule.ts'

/** The outcome of one attempt. */
export interface AttemptOutcome {
  /** null when no response came. */
  readonly responseStatus: number | null
  /** At most the first KiB of the body; null when no response came. */
  readonly responseHead: string | null
  readonly retryAfter?: string | undefined
  readonly durationMs: number
  /** In plain words; null when the receiver acknowledged. */
  readonly error: string | null
}

/** Any 2xx acknowledges. Anything else is retried; that includes redirects, which are not followed. */
export function isAcknowledged(responseStatus: number): boolean {
  return responseStatus >= 200 && responseStatus <= 299
}

export interface DeliveryChange {
  readonly state: Extract<DeliveryState, 'pending' | 'delivered' | 'failed'>
  readonly nextAttemptAt: Date | null
  readonly finishedAt: Date | null
}

/** The state of a delivery after an attempt; the eighth failure is the last. */
function afterAttempt(
  outcome: Pick<AttemptOutcome, 'error' | 'retryAfter'>,
  { attemptsMade, baseMs, now, random }: { attemptsMade: number; baseMs: number; now: Date; random: number },
): DeliveryChange {
  if (outcome.error === null) return { state: 'delivered', nextAttemptAt: null, finishedAt: now }
  const retryAfterMs = parseRetryAfterMs(outcome.retryAfter, now)
  const delayMs = retryDelayMs({ attemptsMade, baseMs, retryAfterMs, random })
  if (delayMs === null) return { state: 'failed', nextAttemptAt: null, finishedAt: now }
  return { state: 'pending', nextAttemptAt: new Date(now.getTime() + delayMs), finishedAt: null }
}

/** A delivery as it is when the outcome of an attempt is recorded. */
export interface AttemptedDelivery {
  readonly state: DeliveryState
  readonly nextAttemptAt: Date | null
  readonly finishedAt: Date | null
  /** Before this attempt. */
  readonly attemptsMade: number
  /** Whether the lease of this attempt still holds it. */
  readonly held: boolean
}

/**
 * How an attempt changes its delivery. A 2xx counts however late it is recorded, because the receiver has the event. A
 * failure counts only while its lease holds the delivery.
 * @returns null when another lease holds the delivery, so that the attempt is only logged
 */
export function recordedChange(
  delivery: AttemptedDelivery,
  outcome: Pick<AttemptOutcome, 'error' | 'retryAfter'>,
  { baseMs, now, random }: { baseMs: number; now: Date; random: number },
): RecordedChange | null {
  const { state, nextAttemptAt, finishedAt, attemptsMade, held } = delivery
  if (outcome.error === null)
    return { state: 'delivered', nextAttemptAt: null, finishedAt: state === 'delivered' ? finishedAt : now }
  if (!held) return null
  // The delivery was, for example, withheld while the attempt was under way. It stays so.
  if (state !== 'pending') return { state, nextAttemptAt, finishedAt }
  return afterAttempt(outcome, { attemptsMade: attemptsMade + 1, baseMs, now, random })
}

export type RecordedChange = Pick<AttemptedDelivery, 'state' | 'nextAttemptAt' | 'finishedAt'>
