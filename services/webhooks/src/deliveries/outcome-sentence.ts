// Rules.

import type { DeliveryState } from '@backoffice/contracts'

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
