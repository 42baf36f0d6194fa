import { type EventMessage, publicEventKinds } from '@backoffice/contracts'
import { type Db, type Reaction, takeSetAside } from '@backoffice/service-runtime'
import { type EndpointKey, endpointId } from '../endpoints/endpoint.ts'
import { ensureEndpoints } from '../endpoints/records.ts'
import { insertDeliveries } from './queue.ts'

/**
 * Stores a delivery for each public event. Scheduling happens in PostgreSQL, never in the stream: a delayed redelivery
 * there counts against a limit for all messages, so a few dead receivers would hold up everybody.
 */
export const scheduleDelivery = (nudge: (endpointId: string) => void): Reaction => ({
  name: deliveryReaction,
  kinds: publicEventKinds,
  async react(received, { db, now }) {
    const keys = received.map(({ event }) => event)
    const deliveries = received.map((one) => ({ ...one, receivedAt: now }))
    await Promise.all([ensureEndpoints(db, keys, now), insertDeliveries(db, deliveries)])
  },
  committed(received) {
    for (const id of new Set(received.map(({ event }) => endpointId(event)))) nudge(id)
  },
})

/** The name of the reaction that stores deliveries. It names the durable consumer, so it never changes. */
const deliveryReaction = 'schedule-delivery'

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
