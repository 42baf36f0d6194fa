import type { Environment } from '@backoffice/contracts'
import {
  afterFailure,
  afterSuccess,
  type Breaker,
  type BreakerSettings,
  closedBreaker,
  type DisablingRule,
  mustBeDisabled,
} from './breaker.ts'

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
  readonly updatedAt: Date
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
    updatedAt: now,
  }
}

/** Nothing is sent to a disabled endpoint until a URL is set. */
export function disabled(
  endpoint: Endpoint,
  { reason, now }: { readonly reason: string; readonly now: Date },
): Endpoint {
  return { ...endpoint, enabled: false, disabledAt: now, disabledReason: reason, updatedAt: now }
}

export interface AttemptAtEndpoint {
  /** Where it was sent. */
  readonly url: string
  readonly failed: boolean
}

export interface LearningRules {
  readonly settings: BreakerSettings
  readonly disabling: DisablingRule
  readonly now: Date
  /** Uniform in [0, 1). */
  readonly random: number
}

/** Changes an endpoint after an attempt. An endpoint that has failed for days is disabled. */
export function afterAttemptAt(endpoint: Endpoint, { url, failed }: AttemptAtEndpoint, rules: LearningRules): Endpoint {
  const { settings, disabling, now, random } = rules
  if (!failed) return { ...endpoint, breaker: afterSuccess(endpoint.breaker, settings) }
  // A failure of the former URL says nothing about the present one.
  if (url !== endpoint.url) return endpoint
  const breaker = afterFailure(endpoint.breaker, settings, { now, random })
  const failing = { ...endpoint, breaker }
  if (!endpoint.enabled || !mustBeDisabled(breaker, disabling, now)) return failing
  const { failingDays } = disabling
  const reason = `It failed for ${failingDays} days without one success (${breaker.consecutiveFailures} attempts).`
  return disabled(failing, { reason, now })
}
