import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { duration, outcomeSentence } from '../domain/outcome-sentence.ts'
import { findDelivery, type StoredStory } from '../storage/deliveries.ts'

export const showDelivery = query(operations.webhooks.showDelivery, async ({ input }, { sql, now }) => {
  const found = await findDelivery(sql, input.id)
  if (found === null) throw new Rejection('DELIVERY_NOT_FOUND')
  const { endpoint, ...story } = found
  const date = (text: string | null) => (text === null ? null : new Date(text))
  const outcome = outcomeSentence({
    ...story,
    eventCreatedAt: new Date(story.eventCreatedAt),
    finishedAt: date(story.finishedAt),
    nextAttemptAt: date(story.nextAttemptAt),
    pausedBecause: pause(endpoint, now),
    now,
  })
  return { ...story, outcome }
})

/** Why an endpoint sends nothing at the moment. */
function pause({ openUntil }: StoredStory['endpoint'], now: Date): string | null {
  if (openUntil === null || openUntil <= now) return null
  return `the receiver fails again and again and is left alone for ${duration(now, openUntil)}`
}
