import type { EventMessage } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { openBody } from '../../src/deliveries/queue.ts'
import { scheduleDelivery } from '../../src/deliveries/schedule-delivery.ts'
import { endpointId } from '../../src/endpoints/endpoint.ts'
import { depositConfirmed, publish, webhooksBed } from '../bed.ts'
import { startReceiver } from '../receiver.ts'

const { bed, operator, emit, story, hold } = await webhooksBed(t)
const { db, log } = bed.services.webhooks
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const now = new Date('2026-03-02T12:00:00.000Z')

t.test('a batch is stored as a whole, for endpoints that nobody has made too, and each is nudged once', async (t) => {
  const { scope: silent } = await operator()
  const unknown = bed.scope({ operatorId: 'op_unknown', environment: 'production' })
  const events = [silent, unknown, silent, unknown].map((scope) => depositConfirmed(scope))
  const nudged: string[] = []
  const reaction = scheduleDelivery((id) => nudged.push(id))
  const received = events.map((event) => ({ event, traceparent }))
  const react = () => db.transaction((tx) => reaction.react(received, { db: tx, now, log }))
  await react()
  await react()
  reaction.committed?.(received)

  const rows = await db<{ body: Buffer; deliveryId: string }>`
    select id as delivery_id, event_id, endpoint_id, brand_id, body, state, trace_parent from delivery
    where event_id = any(${events.map(({ id }) => id)}::text[]) order by event_id
  `
  const stored = (event: EventMessage) => ({
    eventId: event.id,
    endpointId: endpointId(event),
    brandId: event.brandId,
    body: Buffer.from(JSON.stringify(event)),
    state: 'withheld',
    traceParent: traceparent,
  })
  const found = rows.map(({ deliveryId, ...row }) => ({
    ...row,
    body: openBody(db.vault, { deliveryId, body: row.body }),
  }))
  t.same(found, events.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(stored), 'once each, though it came twice')
  t.same(nudged.toSorted(), [endpointId(silent), endpointId(unknown)].toSorted())
})

t.test('an event that cannot be stored fails none of its neighbours', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const poison = depositConfirmed(scope)
  await bed.sql('admin').query(`
    create function webhooks.refuse_delivery() returns trigger language plpgsql as $$ begin raise exception 'never'; end $$;
    create trigger refuse_delivery before insert on webhooks.delivery for each row
      when (new.event_id = '${poison.id}') execute function webhooks.refuse_delivery()`)
  const connection = await bed.nats('payments')
  const [, ...neighbours] = await Promise.all([
    publish(connection, poison),
    ...Array.from({ length: 20 }, () => emit(scope)),
  ])
  await eventually(() => receiver.received.length === 20)
  t.same(new Set(receiver.received.map(({ id }) => id)), new Set(neighbours.map(({ id }) => id)))
  await t.rejects(story(poison.id), { code: 'DELIVERY_NOT_FOUND' })
})

t.test('an endpoint that is locked against everything does not hold up the events of others', async (t) => {
  const receiver = await startReceiver(t)
  const { scope: locked } = await operator(receiver.url)
  const { scope: other } = await operator(receiver.url)
  const letGo = await hold(t, 'select from endpoint where id = $1 for update', endpointId(locked))
  const [waiting] = await Promise.all([emit(locked), ...Array.from({ length: 10 }, () => emit(other))])
  await eventually(() => receiver.received.length === 10)
  await letGo()
  await eventually(async () => (await story(waiting.id)).state === 'delivered')
})

t.test('an endpoint that a restored database has lost gets a row again, and its event a delivery', async (t) => {
  const { scope } = await operator()
  const before = await emit(scope)
  await eventually(async () => (await story(before.id)).state === 'withheld')
  const admin = await bed.sql('admin').connect()
  try {
    await admin.query('set session_replication_role = replica')
    for (const [table, column] of Object.entries({ secret: 'endpoint_id', delivery: 'endpoint_id', endpoint: 'id' }))
      await admin.query(`delete from webhooks.${table} where ${column} = $1`, [endpointId(scope)])
    await admin.query('reset session_replication_role')
  } finally {
    admin.release()
  }
  const after = await emit(scope)
  await eventually(async () => (await story(after.id)).state === 'withheld')
  t.equal((await story(after.id)).eventId, after.id)
})
