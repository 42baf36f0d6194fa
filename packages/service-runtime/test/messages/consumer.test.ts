import type { EventMessage } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, keptEvents, TestTimers, testBed } from '@backoffice/test-kit'
import { jetstream, PubHeaders } from '@nats-io/jetstream'
import { headers, type MsgHdrs } from '@nats-io/transport-node'
import t from 'tap'
import type { Reaction } from '../../src/index.ts'
import { setAsideAfterMsBeside } from '../../src/messages/consumer.ts'
import { countUp, eventData, payments, wallet, webhooksWith } from '../probe-services.ts'

let failures = 0
/** The events of each batch, tried and committed. */
const tried: string[][] = []
const committed: string[][] = []
let hold: Promise<void> | undefined
const record: Reaction = {
  name: 'schedule-delivery',
  kinds: ['deposit.confirmed', 'kyc.status_changed'],
  // Two retries: after half a second, and after one more.
  setAsideAfterMs: 1_200,
  async react(events, { db }) {
    tried.push(events.map(({ event }) => event.id))
    await db`
      insert into heard (event_id, type)
      select * from unnest(${events.map(({ event }) => event.id)}::text[], ${events.map(({ event }) => event.type)}::text[])
    `
    await hold
    // After the effect, so that a failure must roll it back.
    const operators = events.map(({ event }) => event.operatorId)
    if (operators.includes('op_poison')) throw new Error('never')
    if (operators.includes('op_flaky') && failures-- > 0) throw new Error('not yet')
  },
  committed: (events) => committed.push(events.map(({ event }) => event.id)),
}
const webhooks = webhooksWith([record])
const timers = new TestTimers()
const bed = await testBed(t, { payments, wallet, webhooks }, { timers })
await bed.start('webhooks')
const scope = bed.scope()

function event(operatorId = 'op_test'): EventMessage<'deposit.confirmed'> {
  return {
    id: newId('evt'),
    type: 'deposit.confirmed',
    apiVersion: '1.1.0',
    environment: 'sandbox',
    operatorId,
    brandId: 'brd_1',
    createdAt: '2026-03-02T12:00:00.000Z',
    data: eventData('dep_1'),
  }
}
async function publish(payload: string, msgID: string = newId('evt')): Promise<void> {
  await jetstream(await bed.nats('payments')).publish('events.deposit.confirmed', payload, { msgID })
}
function named(msgID: string): MsgHdrs {
  const named = headers()
  named.set(PubHeaders.MsgIdHdr, msgID)
  return named
}
async function heard(id: string): Promise<number | null> {
  return (await bed.sql('webhooks').query('select from heard where event_id = $1', [id])).rowCount
}
const timesCommitted = (id: string) => committed.flat().filter((other) => other === id).length
async function setAside(text: string): Promise<{ fault: string; consumer: string }[]> {
  const query = 'select fault, consumer from set_aside_message where position($1 in payload) > 0'
  return (await bed.sql('webhooks').query(query, [text])).rows
}
const untilSetAside = (text: string) =>
  eventually(async () => {
    const found = await setAside(text)
    return found.length > 0 && found
  })

t.test('an event of another service takes effect once, without a poll', async (t) => {
  timers.stop(t)
  await bed.rpc.call(countUp, { scope, input: { record: 'heard', sends: ['event'] } })
  const { rows } = await bed.sql('payments').query(`select id from ${keptEvents('payments')}`)
  await eventually(async () => (await heard(rows[0].id)) === 1)
  t.equal(timesCommitted(rows[0].id), 1)
})

t.test('a reaction that fails for a while is delivered again, and its failed tries leave nothing', async (t) => {
  failures = 2
  const flaky = event('op_flaky')
  await publish(JSON.stringify(flaky))
  await eventually(async () => (await heard(flaky.id)) === 1)
  t.equal(await heard(flaky.id), 1)
  t.equal(timesCommitted(flaky.id), 1)
})

t.test('what cannot be read is set aside, at once if it is no JSON, and delays nobody', async (t) => {
  const next = event()
  await publish('{"no json')
  await publish(JSON.stringify({ ...event(), brandId: 5, marker: 'no text' }))
  await publish(JSON.stringify({ type: 'deposit.vanished', marker: 'unheard-of' }))
  await publish(JSON.stringify({ ...event(), type: 'kyc.status_changed', marker: 'another kind' }))
  await (await bed.nats('payments')).request(
    'events.deposit.confirmed',
    JSON.stringify({ ...event(), marker: 'unnamed' }),
  )
  await publish(JSON.stringify(next))
  await eventually(async () => (await heard(next.id)) === 1)
  for (const [text, fault] of [
    ['no json', /not JSON/],
    ['no text', /not valid/],
    ['unheard-of', /not that of its subject/],
    ['another kind', /not that of its subject/],
    ['unnamed', /no message id/],
  ] as const) {
    t.match(await untilSetAside(text), [{ fault, consumer: 'schedule-delivery' }], text)
  }
})

t.test('what always fails is set aside when it has been tried for so long', async (t) => {
  const poison = event('op_poison')
  await publish(JSON.stringify(poison))
  t.match(await untilSetAside(poison.id), [{ fault: /never/ }])
  t.equal(await heard(poison.id), 0)
})

t.test('many that fail leave room for the others: each is tried for less long', async (t) => {
  const dayMs = 24 * 3_600_000
  const triedMs = (count: number, isReadable: boolean) =>
    setAsideAfterMsBeside(Array(count).fill({ isReadable }), { isReadable })
  t.same([triedMs(1, true), triedMs(256, true), triedMs(257, true)], [dayMs, dayMs, 900_000])
  t.same([triedMs(1, false), triedMs(64, false), triedMs(65, false)], [dayMs, dayMs, 0])
  t.equal(setAsideAfterMsBeside(Array(257).fill({ isReadable: true }), { isReadable: true }, 1_000), 1_000)
})

t.test('a field that is not known here is no fault: its writer may be of the next release', async (t) => {
  const newer = event()
  await publish(JSON.stringify({ ...newer, surplus: true, data: { ...newer.data, surplus: true } }))
  t.equal(await eventually(async () => (await heard(newer.id)) === 1), true)
})

t.test('of events that come together one was seen before and one always fails: the others take effect', async (t) => {
  const seen = event()
  await publish(JSON.stringify(seen))
  await eventually(async () => (await heard(seen.id)) === 1)

  // What arrives while a batch runs forms the next one, in each of the two replicas.
  let release = () => {}
  hold = new Promise((resolve) => {
    release = resolve
  })
  const openers = [event(), event(), event(), event()]
  for (const opener of openers) await publish(JSON.stringify(opener))
  await eventually(() => openers.some(({ id }) => tried.flat().includes(id)))
  const poison = event('op_poison')
  const fresh = Array.from({ length: 40 }, () => event())
  const together = [...fresh.slice(0, 20), seen, poison, ...fresh.slice(20)]
  // Other message ids, or the stream would drop what it has.
  await Promise.all(together.map((one) => publish(JSON.stringify(one), newId('evt'))))
  hold = undefined
  release()

  await untilSetAside(poison.id)
  for (const { id } of fresh) t.same([await heard(id), await setAside(id)], [1, []])
  t.equal(await heard(seen.id), 1)
  t.equal(await heard(poison.id), 0)
  t.equal(timesCommitted(seen.id), 1)
  t.ok(
    tried.some((batch) => batch.length > 1 && batch.includes(poison.id)),
    'the poison had neighbours',
  )
  t.ok(
    tried.some((batch) => batch.length === 1 && batch.includes(poison.id)),
    'and was tried alone',
  )
})

t.test('however many messages are none of ours, or cannot be read yet, the next event is handled', async (t) => {
  const patient = webhooksWith([{ name: record.name, kinds: record.kinds, react: record.react }])
  const bed = await testBed(t, { payments, webhooks: patient }, { timers })
  const connection = await bed.nats('payments')
  const client = jetstream(connection)
  // As many as a consumer has places: what JetStream says where a publisher makes it say that, and events of no use here.
  for (let count = 0; count < 1_100; count++) {
    const { id } = event()
    connection.publish('events.deposit.confirmed', id, { reply: 'events.kyc.status_changed' })
    const newer = JSON.stringify({ ...event(), brandId: 5 })
    if (count % 10 === 0) await client.publish('events.deposit.confirmed', newer, { msgID: id })
    else connection.publish('events.deposit.confirmed', newer, { headers: named(id) })
  }
  const next = event()
  await client.publish('events.deposit.confirmed', JSON.stringify(next), { msgID: next.id })
  const sql = bed.sql('webhooks')
  const heard = async () => (await sql.query('select from heard where event_id = $1', [next.id])).rowCount
  t.equal(await eventually(async () => (await heard()) === 1), true)
  const { rows } = await sql.query('select count(*)::int as kept from set_aside_message where fault !~ $1', [
    'not valid',
  ])
  t.ok(rows[0].kept > 0 && rows[0].kept <= 2 * 64, 'what is none of ours does not fill the table')
})
