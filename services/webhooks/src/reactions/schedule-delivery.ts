import { publicEventKinds } from '@backoffice/contracts'
import type { Reaction } from '@backoffice/service-runtime'
import { endpointId } from '../domain/endpoint.ts'
import { deliveryReaction } from '../steps/set-aside.ts'
import { insertDeliveries } from '../storage/deliveries.ts'
import { ensureEndpoints } from '../storage/endpoints.ts'

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
