import { webhookAttemptsMax } from '@backoffice/contracts'

/**
 * When a failed delivery is tried again. With the default base of one minute the waits are about 1 min, 3 min, 9 min,
 * 27 min, 1 h 21 min, 4 h 3 min and 12 h 9 min: eight attempts over some 18 hours.
 */
export const backoffBaseDefaultMs = 60_000
const backoffFactor = 3
/**
 * Each wait is made longer or shorter by up to a fifth, so that deliveries that failed together are not retried
 * together.
 */
const backoffJitter = 0.2
/**
 * A receiver's Retry-After can make a wait longer, up to this. It never makes one shorter, so that a receiver cannot
 * use up the attempts quickly.
 */
export const retryAfterMaxMs = 60 * 60_000

export interface RetryQuestion {
  /** Attempts made since the delivery was scheduled, the failed one included. */
  readonly attemptsMade: number
  readonly baseMs: number
  /** From the failed response, if it carried one. */
  readonly retryAfterMs: number | null
  /** Uniform in [0, 1). */
  readonly random: number
}

/** How long to wait for the next attempt; null when the failed one was the last. */
export function retryDelayMs({ attemptsMade, baseMs, retryAfterMs, random }: RetryQuestion): number | null {
  if (attemptsMade >= webhookAttemptsMax) return null
  const plannedMs = baseMs * backoffFactor ** Math.max(0, attemptsMade - 1)
  const jitteredMs = plannedMs * (1 - backoffJitter + 2 * backoffJitter * random)
  return Math.round(Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, retryAfterMaxMs)))
}

/** The value of a Retry-After header, which is seconds or an HTTP date; null when it is neither. */
export function parseRetryAfterMs(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null
  const text = value.trim()
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1000
  // Only the form of RFC 9110, because Date.parse alone accepts almost anything.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}
