/**
 * The circuit breaker of one endpoint: what may be under way at once, and when. A receiver that fails again and again
 * is left alone for a while, and its backlog waits without using up attempts; when it replies again, the backlog leaves
 * at a rate that doubles with every success, so that a receiver that has just come back is not overloaded.
 */
export interface Breaker {
  /** `recovering` begins when an open breaker's pause is over: one probe, then more with every success. */
  readonly state: 'closed' | 'open' | 'recovering'
  readonly consecutiveFailures: number
  /** Since when nothing has succeeded; null after a success. */
  readonly failingSince: Date | null
  /** While open: when the next probe may leave. */
  readonly openUntil: Date | null
  /** How often it has opened since the last full recovery: each time the pause doubles. */
  readonly openings: number
  /** Deliveries that may be under way at once. */
  readonly concurrency: number
}

export interface BreakerSettings {
  readonly concurrencyMax: number
  /** The breaker's pauses are halves and multiples of it, so that a delivery's own waits are longer. */
  readonly backoffBaseMs: number
}

/** This many failures in a row open the breaker. */
export const failuresToOpen = 5
const pauseMaxInBases = 5

export const closedBreaker = (settings: BreakerSettings): Breaker => ({
  state: 'closed',
  consecutiveFailures: 0,
  failingSince: null,
  openUntil: null,
  openings: 0,
  concurrency: settings.concurrencyMax,
})

/** Whether a success leaves the breaker as it is, so that nothing needs to be written. */
export function isAtRest(breaker: Breaker): boolean {
  return breaker.state === 'closed' && breaker.consecutiveFailures === 0
}

export function afterSuccess(breaker: Breaker, settings: BreakerSettings): Breaker {
  if (breaker.state === 'closed') return closedBreaker(settings)
  // A success while the breaker is open is a late reply to an earlier attempt. It begins the recovery early.
  const concurrency = breaker.state === 'open' ? 1 : Math.min(breaker.concurrency * 2, settings.concurrencyMax)
  if (concurrency >= settings.concurrencyMax) return closedBreaker(settings)
  return { ...breaker, state: 'recovering', consecutiveFailures: 0, failingSince: null, openUntil: null, concurrency }
}

/** @param random uniform in [0, 1) */
export function afterFailure(
  breaker: Breaker,
  settings: BreakerSettings,
  { now, random }: { now: Date; random: number },
): Breaker {
  const failing = {
    ...breaker,
    consecutiveFailures: breaker.consecutiveFailures + 1,
    failingSince: breaker.failingSince ?? now,
  }
  switch (breaker.state) {
    case 'closed':
      if (failing.consecutiveFailures >= failuresToOpen) return open(failing, settings, { now, random })
      // Each attempt at a failing receiver may hold a slot until its deadline, so it gets fewer slots until it
      // succeeds.
      return { ...failing, concurrency: Math.max(1, Math.floor(breaker.concurrency / 2)) }
    case 'recovering':
      return open(failing, settings, { now, random })
    case 'open':
      // A late failure of an earlier attempt says nothing new.
      return failing
    default:
      throw breaker.state satisfies never
  }
}

/** Takes an open breaker whose pause is over to its probe; anything else is returned as it is. */
export function afterPause(breaker: Breaker, now: Date): Breaker {
  if (breaker.state !== 'open' || breaker.openUntil === null || breaker.openUntil > now) return breaker
  return { ...breaker, state: 'recovering', openUntil: null, concurrency: 1 }
}

function open(breaker: Breaker, settings: BreakerSettings, { now, random }: { now: Date; random: number }): Breaker {
  const pauseMs = settings.backoffBaseMs * Math.min(2 ** breaker.openings / 2, pauseMaxInBases) * (0.8 + 0.4 * random)
  return {
    ...breaker,
    state: 'open',
    openUntil: new Date(now.getTime() + Math.round(pauseMs)),
    openings: Math.min(breaker.openings + 1, 30),
    concurrency: 1,
  }
}

export interface DisablingRule {
  /** An endpoint that has failed for so long without one success is disabled. */
  readonly failingDays: number
  readonly failuresMin: number
}

/**
 * Days alone would disable a quiet endpoint after two failed events a week apart, so a number of failures is needed
 * too.
 */
export function mustBeDisabled(breaker: Breaker, rule: DisablingRule, now: Date): boolean {
  if (breaker.failingSince === null || breaker.consecutiveFailures < rule.failuresMin) return false
  return now.getTime() - breaker.failingSince.getTime() >= rule.failingDays * 24 * 60 * 60_000
}
