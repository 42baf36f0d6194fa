import { type EventMessage, publicEventKinds } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { countStoredBytes, type Db, type Reaction, sql } from '@backoffice/service-runtime'
import { type EndpointKey, endpointId } from '../endpoints/endpoint.ts'
import { ensureEndpoints } from '../endpoints/records.ts'
import { storedBody } from './queue.ts'
import { takeSetAside } from './set-aside.ts'

/**
 * Stores a delivery for each public event. Scheduling happens in PostgreSQL, never in the stream: a delayed redelivery
 * there counts against a limit for all messages, so a few dead receivers would hold up everybody.
 */
export const scheduleDelivery = (nudge: (endpointId: string) => void): Reaction => {
  /** Endpoints that have rows. Nobody deletes one, but a restored database may lack it: then storing fails. */
  const known = new Set<string>()
  return {
    name: deliveryReaction,
    kinds: publicEventKinds,
    async react(received, { db, now }) {
      const unknown = received.map(({ event }) => event).filter((event) => !known.has(endpointId(event)))
      const deliveries = received.map((one) => ({ ...one, receivedAt: now }))
      await Promise.all([ensureEndpoints(db, unknown, now), insertDeliveries(db, deliveries)]).catch((fault) => {
        known.clear()
        throw fault
      })
    },
    committed(received) {
      for (const id of new Set(received.map(({ event }) => endpointId(event)))) {
        known.add(id)
        nudge(id)
      }
    },
  }
}

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

/** An event on its way to the endpoint of its operator and environment. */
interface NewDelivery {
  readonly event: EventMessage
  readonly traceparent: string | null
  readonly receivedAt: Date
  /** Not to be sent yet, whatever the state of its endpoint. */
  readonly withheld?: boolean
}

const newColumns = `
  id text, endpoint_id text, event_id text, type text, brand_id text, body bytea, event_created_at timestamptz,
  received_at timestamptz, trace_parent text, withheld bool
`

/**
 * Stores the deliveries of events whose endpoints have rows. They are due at once, or withheld when nothing is sent to
 * the endpoint. An event that is stored already is left as it is. Every attempt sends the bytes that are written here.
 */
async function insertDeliveries(db: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  const rows = deliveries.map(({ event, traceparent, receivedAt, withheld = false }) => {
    const body = Buffer.from(JSON.stringify(event))
    countStoredBytes('delivery', event, body.length)
    const { id: eventId, type, brandId, createdAt: eventCreatedAt } = event
    const delivery = { id: newId('dlv'), endpointId: endpointId(event), eventId, type, brandId }
    return {
      ...{ ...delivery, eventCreatedAt, receivedAt, withheld, traceParent: traceparent },
      body: storedBody(db.vault, delivery, body),
    }
  })
  await db`
    insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at,
      next_attempt_at, finished_at, trace_parent)
    select r.id, r.endpoint_id, r.event_id, r.type, r.brand_id, r.body,
      case when s.sends then 'pending' else 'withheld' end, r.event_created_at, r.received_at,
      case when s.sends then now() end, case when not s.sends then r.received_at end, r.trace_parent
    from ${sql.unnest('r', rows, newColumns)}
    -- A delivery without an endpoint is refused, and not left out.
    left join endpoint e on e.id = r.endpoint_id
    cross join lateral (
      select not r.withheld and e.enabled and e.url is not null
        and exists (select from secret where endpoint_id = e.id) as sends
    ) s
    order by r.endpoint_id, r.event_id
    on conflict (endpoint_id, event_id) do nothing
  `
}
