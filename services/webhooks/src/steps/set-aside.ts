import type { EventMessage } from '@backoffice/contracts'
import { type Db, takeSetAside } from '@backoffice/service-runtime'
import { type EndpointKey, endpointId } from '../domain/endpoint.ts'
import { insertDeliveries } from '../storage/deliveries.ts'

/** The name of the reaction that stores deliveries. It names the durable consumer, so it never changes. */
export const deliveryReaction = 'schedule-delivery'

/**
 * Stores the deliveries of events that were set aside because storing them had failed. The deliveries are withheld and
 * have the time of their event, so a replay of that time schedules them. The endpoint's row must be locked.
 */
export async function bringBackSetAside(
  db: Db,
  { since, until, ...key }: EndpointKey & { readonly since: string; readonly until?: string },
): Promise<void> {
  const isWanted = (event: EventMessage) =>
    endpointId(event) === endpointId(key) &&
    Date.parse(event.createdAt) >= Date.parse(since) &&
    (until === undefined || Date.parse(event.createdAt) < Date.parse(until))
  const events = await takeSetAside(db, { reaction: deliveryReaction, mentions: key.operatorId, isWanted })
  await insertDeliveries(
    db,
    events.map((event) => ({ event, traceparent: null, receivedAt: new Date(event.createdAt), withheld: true })),
  )
}
