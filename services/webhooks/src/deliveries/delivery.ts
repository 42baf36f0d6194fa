// Rules.

import { type DeliveryState, webhookAttemptsMax } from '@backoffice/contracts'

export interface AttemptOutcome {
  /** null when no response came. */
  readonly responseStatus: number | null
  /** At most the first KiB of the body; null when no response came. */
  readonly responseHead: string | null
  readonly retryAfter?: string | undefined
  readonly durationMs: number
  /** In plain words; null when the receiver acknowledged. */
  readonly error: string | null
  /** The receiver closed a connection that was kept from an earlier delivery. The next attempt is due at once. */
  readonly connectionLost?: boolean
}

type Verdict = Pick<AttemptOutcome, 'error' | 'retryAfter' | 'connectionLost'>

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
  outcome: Verdict,
  { attemptsMade, baseMs, now, random }: { attemptsMade: number; baseMs: number; now: Date; random: number },
): DeliveryChange {
  if (outcome.error === null) return { state: 'delivered', nextAttemptAt: null, finishedAt: now }
  const retryAfterMs = parseRetryAfterMs(outcome.retryAfter, now)
  const delayMs = retryDelayMs({ attemptsMade, baseMs, retryAfterMs, random })
  if (delayMs === null) return { state: 'failed', nextAttemptAt: null, finishedAt: now }
  const dueMs = outcome.connectionLost === true ? 0 : delayMs
  return { state: 'pending', nextAttemptAt: new Date(now.getTime() + dueMs), finishedAt: null }
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
  outcome: Verdict,
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
  const at = parseHttpDate(text, now)
  return at === null ? null : Math.max(0, at - now.getTime())
}

/** The three forms of RFC 9110, 5.6.7. Date.parse alone accepts almost anything. */
const httpDates = [
  /^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
]
/** A year of two digits is never further ahead. */
const yearsAheadMax = 50

function parseHttpDate(text: string, now: Date): number | null {
  const parts = httpDates.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return null
  const { day, month, year = '', time } = parts
  const at = (fullYear: number) => Date.parse(`${day} ${month} ${fullYear} ${time} GMT`)
  const thisYear = now.getUTCFullYear()
  const thisCentury = Math.floor(thisYear / 100) * 100 + Number(year)
  const found =
    year.length > 2 ? at(Number(year)) : at(thisCentury > thisYear + yearsAheadMax ? thisCentury - 100 : thisCentury)
  return Number.isNaN(found) ? null : found
}

export interface StoryFacts {
  readonly state: DeliveryState
  readonly attempts: number
  readonly eventCreatedAt: Date
  readonly finishedAt: Date | null
  readonly nextAttemptAt: Date | null
  readonly lastError: string | null
  /** Why nothing is sent to the endpoint at the moment; null when it is not paused. */
  readonly pausedBecause: string | null
  readonly now: Date
}

/** What happened to a delivery, in one sentence for a person of the team. */
export function outcomeSentence(facts: StoryFacts): string {
  const { state, attempts, lastError, now } = facts
  const because = lastError === null ? '' : ` The last one: ${lastError}`
  switch (state) {
    case 'delivered':
      return `Delivered on attempt ${attempts}, ${duration(facts.eventCreatedAt, facts.finishedAt ?? now)} after the event.`
    case 'failed':
      return `Given up after ${attempts} attempts, ${duration(facts.eventCreatedAt, facts.finishedAt ?? now)} after the event.${because}`
    case 'withheld':
      return 'Not sent: no URL was set, or the endpoint was disabled. A resend or a replay sends it.'
    case 'pending':
      return attempts === 0
        ? `Not tried yet; ${waiting(facts)}.`
        : `Tried ${times(attempts)}; ${waiting(facts)}.${because}`
    default:
      throw state satisfies never
  }
}

function waiting({ nextAttemptAt, pausedBecause, now }: StoryFacts): string {
  if (pausedBecause !== null) return pausedBecause
  if (nextAttemptAt === null || nextAttemptAt <= now) return 'the next attempt is due now'
  return `the next attempt is due in ${duration(now, nextAttemptAt)}`
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

/** The two largest units of the time between: 4 min 12 s. */
export function duration(from: Date, to: Date): string {
  let restMs = Math.max(0, to.getTime() - from.getTime())
  const parts: string[] = []
  for (const [name, unitMs] of units) {
    const count = Math.floor(restMs / unitMs)
    if (count === 0 && !(name === 'ms' && parts.length === 0)) continue
    // Milliseconds are left out beside larger units.
    if (name === 'ms' && parts.length > 0) continue
    parts.push(`${count} ${name}`)
    restMs -= count * unitMs
    if (parts.length === 2) break
  }
  return parts.join(' ')
}
