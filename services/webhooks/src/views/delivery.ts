import type { DeliveryStory, DeliverySummary } from '@backoffice/contracts'
import { duration, outcomeSentence } from '../domain/outcome-sentence.ts'
import type { DeliveryRow, DeliveryStoryRow } from '../storage/deliveries.ts'

export function toSummary(row: DeliveryRow): DeliverySummary {
  const { id, eventId, type, operatorId, environment, brandId, state, attempts, lastResponseStatus, lastError } = row
  return {
    ...{ id, eventId, type, operatorId, environment, brandId, state, attempts, lastResponseStatus, lastError },
    eventCreatedAt: row.eventCreatedAt.toISOString(),
    receivedAt: row.receivedAt.toISOString(),
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}

export function toStory(row: DeliveryStoryRow, now: Date): DeliveryStory {
  return {
    ...toSummary(row),
    outcome: outcomeSentence({ ...row, pausedBecause: pause(row, now), now }),
    attemptLog: row.attemptLog.map((attempt) => ({ ...attempt, startedAt: attempt.startedAt.toISOString() })),
    body: row.body.toString('utf8'),
  }
}

/** Why an endpoint sends nothing at the moment. */
function pause({ openUntil }: DeliveryStoryRow, now: Date): string | null {
  if (openUntil === null || openUntil <= now) return null
  return `the receiver fails again and again and is left alone for ${duration(now, openUntil)}`
}
