// Rules.

import { type Environment, signWebhook } from '@backoffice/contracts'

export interface EndpointKey {
  readonly operatorId: string
  readonly environment: Environment
}

/** There is one endpoint per operator and environment. */
export const endpointId = ({ operatorId, environment }: EndpointKey): string => `${operatorId}/${environment}`

/** Where an operator's events are sent, and whether they are sent. */
export interface Endpoint {
  readonly url: string | null
  readonly enabled: boolean
  readonly disabledAt: Date | null
  readonly disabledReason: string | null
  readonly breaker: Breaker
  /** Of its URL; a success leaves it. */
  readonly lastFault: EndpointFault | null
  readonly updatedAt: Date
}

interface EndpointFault {
  readonly at: Date
  /** null when no response came. */
  readonly responseStatus: number | null
  /** In plain words. */
  readonly error: string
}

/** Setting a URL also enables the endpoint, and forgets the failures of the former one. */
export function withUrl(
  endpoint: Endpoint,
  url: string,
  { settings, now }: { readonly settings: BreakerSettings; readonly now: Date },
): Endpoint {
  return {
    ...endpoint,
    url,
    enabled: true,
    disabledAt: null,
    disabledReason: null,
    breaker: closedBreaker(settings),
    lastFault: null,
    updatedAt: now,
  }
}

/** Nothing is sent to a disabled endpoint until a URL is set. */
export function disabledEndpoint(
  endpoint: Endpoint,
  { reason, now }: { readonly reason: string; readonly now: Date },
): Endpoint {
  return { ...endpoint, enabled: false, disabledAt: now, disabledReason: reason, updatedAt: now }
}

export interface AttemptAtEndpoint {
  /** Where it was sent. */
  readonly url: string
  readonly responseStatus: number | null
  /** null when it succeeded. */
  readonly error: string | null
}

export interface LearningRules {
  readonly settings: BreakerSettings
  readonly disabling: DisablingRule
  readonly now: Date
  /** Uniform in [0, 1). */
  readonly random: number
}

/** Changes an endpoint after an attempt. An endpoint that has failed for days is disabled. */
export function afterAttemptAt(endpoint: Endpoint, attempt: AttemptAtEndpoint, rules: LearningRules): Endpoint {
  const { url, responseStatus, error } = attempt
  const { settings, disabling, now, random } = rules
  if (error === null) return { ...endpoint, breaker: afterSuccess(endpoint.breaker, settings) }
  // A failure of the former URL says nothing about the present one.
  if (url !== endpoint.url) return endpoint
  const breaker = afterFailure(endpoint.breaker, settings, { now, random })
  const failing = { ...endpoint, breaker, lastFault: { at: now, responseStatus, error } }
  if (!endpoint.enabled || !mustBeDisabled(breaker, disabling, now)) return failing
  const { failingDays } = disabling
  const reason = `It failed for ${failingDays} days without one success (${breaker.consecutiveFailures} attempts).`
  return disabledEndpoint(failing, { reason, now })
}

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

export interface SigningSecret {
  readonly secret: string
  readonly createdAt: Date
  /** Null for the current secret. A former secret signs until then. */
  readonly expiresAt: Date | null
}

/** Carries a signature per valid secret, as `t=<timestamp>,v1=<hex>[,v1=<hex>…]`, newest first. */
const signaturesHeader = 'X-Webhook-Signatures'

const endOf = ({ expiresAt }: Pick<SigningSecret, 'expiresAt'>) => expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER

/** The secrets that sign at `now`, newest first. */
function validSecrets<S extends Pick<SigningSecret, 'createdAt' | 'expiresAt'>>(secrets: readonly S[], now: Date): S[] {
  return secrets
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || endOf(b) - endOf(a))
}

/**
 * The signing headers of one attempt, new for each. X-Webhook-Signature keeps the oldest secret that is still valid, so a
 * verifier that knows one secret never breaks during a rotation; X-Webhook-Signatures is made with every valid one.
 */
export function signatureHeaders(delivery: {
  readonly eventId: string
  readonly body: Uint8Array
  readonly secrets: readonly SigningSecret[]
  readonly now: Date
}): Record<string, string> {
  const timestamp = String(Math.floor(delivery.now.getTime() / 1000))
  const signatures = validSecrets(delivery.secrets, delivery.now).map(({ secret }) =>
    signWebhook(secret, { timestamp, body: delivery.body }),
  )
  const oldest = signatures.at(-1)
  if (oldest === undefined) throw new Error('an endpoint has no valid secret')
  return {
    'X-Webhook-Id': delivery.eventId,
    'X-Webhook-Timestamp': timestamp,
    'X-Webhook-Signature': oldest,
    [signaturesHeader]: [`t=${timestamp}`, ...signatures.map((signature) => `v1=${signature}`)].join(','),
  }
}

/**
 * When the former secrets stop signing after a rotation. A secret that was to expire earlier still does, so a second
 * rotation within the overlap prolongs nothing.
 */
export function expiryAfterRotation(
  expiresAt: Date | null,
  { now, overlapMs }: { now: Date; overlapMs: number },
): Date {
  const end = new Date(now.getTime() + overlapMs)
  return expiresAt !== null && expiresAt < end ? expiresAt : end
}
