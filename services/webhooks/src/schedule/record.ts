import { type Clock, inTransaction, type Logger, sqlOf } from '@backoffice/service-runtime'
import type { MikroORM } from '@mikro-orm/postgresql'
import { afterAttempt } from '../domain/attempt.ts'
import {
  afterFailure,
  afterSuccess,
  type BreakerSettings,
  type DisablingRule,
  isAtRest,
  mustBeDisabled,
} from '../domain/breaker.ts'
import { lockDelivery, type MadeAttempt, recordFailure, recordSuccess } from '../storage/attempts.ts'
import { auditBySystem, breakerColumns, disableEndpoint, lockEndpoint, toBreaker } from '../storage/endpoints.ts'

export interface RecordParts {
  readonly orm: MikroORM
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  readonly breaker: BreakerSettings
  readonly disabling: DisablingRule
}

/** When something of this endpoint can next be due because of the recorded attempt; null: nothing known. */
export type NextDue = Date | null

/** Writes what came of an attempt: the delivery's next state, the log, and what the endpoint's breaker makes of it. */
export function recordAttempt(parts: RecordParts, attempt: MadeAttempt): Promise<NextDue> {
  return attempt.outcome.error === null ? succeeded(parts, attempt) : failed(parts, attempt)
}

async function succeeded({ orm, clock, breaker: settings }: RecordParts, attempt: MadeAttempt): Promise<NextDue> {
  const now = clock.now()
  // The usual case is one statement without a lock on the endpoint.
  if (!(await recordSuccess(sqlOf(orm.em.fork()), attempt, now))) return null
  return inTransaction(orm, async (em) => {
    const endpoint = await lockEndpoint(em, attempt.lease.endpointId)
    if (endpoint === null) return null
    const breaker = toBreaker(endpoint, settings)
    if (isAtRest(breaker)) return null
    em.assign(endpoint, breakerColumns(afterSuccess(breaker, settings), settings))
    // Recovering: more may leave than a moment ago.
    return now
  })
}

async function failed(parts: RecordParts, attempt: MadeAttempt): Promise<NextDue> {
  const { orm, clock, random, breaker: settings } = parts
  const now = clock.now()
  return inTransaction(orm, async (em) => {
    const connection = sqlOf(em)
    const endpoint = await lockEndpoint(em, attempt.lease.endpointId)
    const delivery = await lockDelivery(connection, attempt.lease)
    if (endpoint === null || delivery === null) return null
    const change = delivery.held
      ? afterAttempt(attempt.outcome, {
          attemptsMade: delivery.attemptsMade + 1,
          baseMs: settings.backoffBaseMs,
          now,
          random: random(),
        })
      : null
    await recordFailure(connection, attempt, change)
    // A failure of the former URL says nothing about the present one.
    if (endpoint.url !== attempt.lease.url) return change?.nextAttemptAt ?? null
    const breaker = afterFailure(toBreaker(endpoint, settings), settings, { now, random: random() })
    em.assign(endpoint, breakerColumns(breaker, settings))
    await em.flush()
    if (endpoint.enabled && mustBeDisabled(breaker, parts.disabling, now)) {
      await disable(parts, connection, { id: endpoint.id, failures: breaker.consecutiveFailures, now })
      return null
    }
    return earliest(change?.nextAttemptAt ?? null, breaker.openUntil)
  })
}

async function disable(
  { disabling, log }: RecordParts,
  connection: ReturnType<typeof sqlOf>,
  { id, failures, now }: { id: string; failures: number; now: Date },
): Promise<void> {
  const reason = `It failed for ${disabling.failingDays} days without one success (${failures} attempts).`
  const withheld = await disableEndpoint(connection, { id, reason, now })
  await auditBySystem(connection, { operation: 'disableWebhook', subject: id, reason, input: { withheld }, now })
  log.error({ endpoint: id, withheld }, 'an endpoint was disabled: it failed for days')
}

function earliest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b
  return a < b ? a : b
}
