import type { DeliveryState } from '@backoffice/contracts'
import { parseRetryAfterMs, retryDelayMs } from './retry-schedule.ts'

/** What came of one attempt. */
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

/** Any 2xx acknowledges; anything else is retried, redirects included, which are not followed. */
export function isAcknowledged(responseStatus: number): boolean {
  return responseStatus >= 200 && responseStatus <= 299
}

export interface DeliveryChange {
  readonly state: Extract<DeliveryState, 'pending' | 'delivered' | 'failed'>
  readonly nextAttemptAt: Date | null
  readonly finishedAt: Date | null
}

/** The state of a delivery after an attempt; the eighth failure is the last. */
export function afterAttempt(
  outcome: Pick<AttemptOutcome, 'error' | 'retryAfter'>,
  { attemptsMade, baseMs, now, random }: { attemptsMade: number; baseMs: number; now: Date; random: number },
): DeliveryChange {
  if (outcome.error === null) return { state: 'delivered', nextAttemptAt: null, finishedAt: now }
  const retryAfterMs = parseRetryAfterMs(outcome.retryAfter, now)
  const delayMs = retryDelayMs({ attemptsMade, baseMs, retryAfterMs, random })
  if (delayMs === null) return { state: 'failed', nextAttemptAt: null, finishedAt: now }
  return { state: 'pending', nextAttemptAt: new Date(now.getTime() + delayMs), finishedAt: null }
}
