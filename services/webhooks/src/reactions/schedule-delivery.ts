import { eventKinds, events } from '@backoffice/contracts'
import { type Reaction, reaction } from '@backoffice/service-runtime'
import { currentTraceParent } from '../schedule/trace.ts'
import { insertDelivery } from '../storage/deliveries.ts'
import { endpointId } from '../storage/endpoint-id.ts'
import { ensureEndpoint } from '../storage/endpoints.ts'

/**
 * Stores a delivery for each public event. Scheduling happens in PostgreSQL, never in the stream: a delayed redelivery
 * there counts against all consumers, and a few dead receivers would stall everybody.
 */
export const scheduleDelivery = (nudge: (endpointId: string) => void): Reaction =>
  reaction({
    name: 'schedule-delivery',
    kinds: eventKinds.filter((kind) => events[kind].visibility === 'public'),
    async react(event, { sql, now }) {
      const delivery = { event, traceParent: currentTraceParent(), now }
      if (await insertDelivery(sql, delivery)) return
      await ensureEndpoint(sql, event, now)
      await insertDelivery(sql, delivery)
    },
    committed: (event) => nudge(endpointId(event)),
  })
