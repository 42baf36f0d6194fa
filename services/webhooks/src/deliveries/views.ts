import type { DeliveryStory } from '@backoffice/contracts'
import { fitting, withIsoTimes } from '@backoffice/service-runtime'
import { duration, outcomeSentence } from './outcome-sentence.ts'
import type { DeliveryStoryRow } from './records.ts'

export function toStory({ body, openUntil, attemptLog, ...row }: DeliveryStoryRow, now: Date): DeliveryStory {
  return {
    ...withIsoTimes(row),
    outcome: outcomeSentence({ ...row, pausedBecause: pause(openUntil, now), now }),
    // Of very many attempts the latest.
    attemptLog: fitting(attemptLog.map(withIsoTimes).reverse()).reverse(),
    body: body.toString('utf8'),
  }
}

/** Why nothing is sent to an endpoint at the moment. */
function pause(openUntil: Date | null, now: Date): string | null {
  if (openUntil === null || openUntil <= now) return null
  return `the receiver fails again and again and is left alone for ${duration(now, openUntil)}`
}
