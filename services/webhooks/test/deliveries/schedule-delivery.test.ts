import type { EventMessage } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Reaction } from '@backoffice/service-runtime'
import { depositConfirmed, eventually, startReceiver } from '@backoffice/test-kit'
import t from 'tap'
import { openBody, scheduleDelivery } from '../../src/deliveries/schedule-delivery.ts'
import { rerunSetAside } from '../../src/deliveries/set-aside.ts'
import { endpointId } from '../../src/endpoints/endpoint.ts'
import { publish, webhooksBed } from '../bed.ts'

const { bed, operator, emit, story, becomes, setAside, hold } = await webhooksBed(t)
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
  await becomes(waiting.id, 'delivered')
})

t.test('an endpoint that a restored database has lost gets a row again, and its event a delivery', async (t) => {
  const { scope } = await operator()
  const before = await emit(scope)
  await becomes(before.id, 'withheld')
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
  t.equal((await becomes(after.id, 'withheld')).eventId, after.id)
})

const heard: string[] = []
const record: Reaction = {
  name: 'schedule-delivery',
  kinds: ['webhook.test'],
  async react(events) {
    if (events.some(({ event }) => event.operatorId === 'op_poison')) throw new Error('never')
    heard.push(...events.map(({ event }) => event.id))
  },
}

const event = (operatorId = 'op_test'): EventMessage<'webhook.test'> => ({
  id: newId('evt'),
  type: 'webhook.test',
  apiVersion: '1.1.0',
  environment: 'sandbox',
  operatorId,
  brandId: 'brd_1',
  createdAt: '2026-03-02T12:00:00.000Z',
  data: { message: 'x' },
})

/** Sets messages aside, and lets the reaction handle a run of them. */
async function rerun(payloads: readonly string[], limit = 10) {
  heard.length = 0
  await bed.sql('webhooks').query('delete from set_aside_message')
  await setAside(payloads, 'events.webhook.test')
  return db.transaction((tx) => rerunSetAside(record, { id: null, limit }, { db: tx, now: new Date(), log }))
}

t.test('a message that is run again and whose event was handled has no effect, and is done', async (t) => {
  const seen = event()
  t.same(await rerun([JSON.stringify(seen)]), { handled: 1, left: 0 })
  t.same(heard, [seen.id])
  t.same(await rerun([JSON.stringify(seen)]), { handled: 1, left: 0 })
  t.same(heard, [])
})

t.test('messages that cannot be read hide none that can', async (t) => {
  const behind = event()
  t.same(await rerun([...Array(25).fill('{"no json'), JSON.stringify(behind)]), { handled: 1, left: 25 })
  t.same(heard, [behind.id])
})

t.test('of messages that are run again the one that fails stays, and its neighbours are handled', async (t) => {
  const [poison, ...fresh] = [event('op_poison'), event(), event(), event()] as const
  const payloads = [fresh[0], poison, fresh[1], fresh[2]].map((one) => JSON.stringify(one))
  t.same(await rerun(payloads), { handled: 3, left: 1 })
  t.same(heard.toSorted(), fresh.map(({ id }) => id).toSorted())
  const { rows } = await bed.sql('webhooks').query('select payload from set_aside_message')
  t.same(rows, [{ payload: JSON.stringify(poison) }])
  await t.rejects(rerun([JSON.stringify(poison)]), { message: 'never' }, 'where nothing can be handled it says why')
})
