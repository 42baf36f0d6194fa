import {
  consumerApi,
  consumerConfiguration,
  type EventConsumerEntry,
  type EventMessage,
  eventConsumers,
  eventStream,
  type Scope,
  streamApi,
  streamBytesMin,
  streamConfiguration,
  streamNews,
} from '@backoffice/contracts'
import { makeStream, StreamKeeper } from '@backoffice/migrator/stream'
import { createLogger, limitsMs } from '@backoffice/process'
import { eventually, TestTimers, testBed } from '@backoffice/test-kit'
import { connect } from '@nats-io/transport-node'
import t from 'tap'
import type { Reaction } from '../../src/index.ts'
import { EventPublisher, EventStream } from '../../src/messages/event-stream.ts'
import type { RunningService } from '../../src/testing.ts'
import { startOpenBroker } from '../own-broker.ts'
import { callsOn } from '../probe-calls.ts'
import { eventData, payments, webhooksWith } from '../probe-services.ts'

const settings = { replicas: 1, bytesMax: streamBytesMin }
const silent = createLogger('test', 'silent')
const configuration = streamConfiguration(settings)
const consumer = eventConsumers[0] as EventConsumerEntry

const event: EventMessage<'deposit.confirmed'> = {
  id: 'evt_1',
  type: 'deposit.confirmed',
  apiVersion: '1.1.0',
  environment: 'sandbox',
  operatorId: 'op_1',
  brandId: 'brd_1',
  createdAt: '2026-03-02T12:00:00.000Z',
  data: eventData('dep_1'),
}

const timers = new TestTimers()
const isReady = async ({ healthPort }: RunningService) => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok
const emitOn = ({ transact }: RunningService, scope: Scope) =>
  transact(async ({ emit, newId }) => {
    const id = newId('dep')
    emit({ kind: 'deposit.confirmed', aggregate: id, scope, data: eventData(id) })
  })

t.test('on a server that permits everything to everybody', async (t) => {
  const url = await startOpenBroker(t)
  const connection = await eventually(() => connect({ servers: url, reconnect: false }))
  t.teardown(() => connection.close())
  const ask = async (subject: string, request: object = {}) => {
    const reply = await connection.request(subject, JSON.stringify(request), { timeout: limitsMs.jetStream })
    return reply.json<{ error?: { description: string }; config: object; state: { messages: number } }>()
  }
  const replaceStream = async (options: object) => {
    await ask(`$JS.API.STREAM.DELETE.${eventStream}`)
    const { error } = await ask(streamApi.create, { ...configuration, ...options })
    if (error !== undefined) throw new Error(error.description)
  }

  await t.test('a service is ready when the stream is there, and publishes', async (t) => {
    const config = { payments: { NATS_URL: url, NATS_USER: '', NATS_PASSWORD: '' } }
    const bed = await testBed(t, { payments }, { startServices: false, config, timers })
    const service = await bed.start('payments')
    t.notOk(await isReady(service), 'it has never seen the stream')
    const keeper = await StreamKeeper.start({ NATS_URL: url, NATS_PASSWORD: '' }, settings, silent)
    t.ok(await timers.eventually(() => isReady(service)))
    await emitOn(service, bed.scope())
    t.ok(await eventually(async () => (await callsOn(bed).unsent()).length === 0))
    await keeper.stop()
    await ask(`$JS.API.STREAM.DELETE.${eventStream}`)
  })

  // As a keeper that makes and changes nothing.
  connection.subscribe(streamNews.ask, {
    callback: () =>
      void ask(streamApi.info).then(({ error, ...info }) =>
        connection.publish(streamNews.found, JSON.stringify(error === undefined ? info : null)),
      ),
  })
  const lines: { readonly msg: string; readonly differences?: readonly string[] }[] = []
  const log = createLogger('test', 'info', { write: (line: string) => void lines.push(JSON.parse(line)) })
  const history = { name: async () => 'any' }
  const watched = () => new EventStream({ connection, replicasMin: 1, log })
  await ask(streamApi.create, { ...configuration, name: 'OTHER', subjects: ['other.>'] })

  await t.test('a stream that is missing is waited for, and that is said once', async (t) => {
    const stream = watched()
    const publisher = new EventPublisher(connection, { stream, history })
    for (const _ of [1, 2]) await t.rejects(publisher.publish(event, ''), { name: 'StreamFault', message: /missing/ })
    t.notOk(stream.differs)
    t.same(
      lines.splice(0).map(({ msg }) => msg),
      [`${eventStream} is missing in JetStream; waiting until it is made`],
    )
    await replaceStream({})
    await publisher.publish(event, '')
    t.equal((await ask(streamApi.info)).state.messages, 1)
    t.match(lines.splice(0), [{ msg: /is as it must be again/ }])
  })

  // Of each kind one: every option is in the tests of rpc, `jetstream.test.ts`.
  for (const options of [
    { sources: [{ name: 'OTHER' }] },
    { max_age: 1_000_000_000, duplicate_window: 1_000_000_000 },
  ]) {
    await t.test(`a stream with ${JSON.stringify(options)} is not published to`, async (t) => {
      await replaceStream(options)
      const stream = watched()
      const publisher = new EventPublisher(connection, { stream, history })
      await t.rejects(publisher.publish(event, ''), { name: 'StreamFault', message: /differs from its configuration/ })
      t.ok(stream.differs, 'and the service is not ready')
      t.equal((await ask(streamApi.info)).state.messages, 0)
      const [said, ...more] = lines.splice(0)
      t.same(more, [])
      for (const field of Object.keys(options)) t.match(said?.differences?.join(), field)

      await replaceStream({})
      await publisher.publish(event, '')
      t.notOk(stream.differs)
      lines.splice(0)
    })
  }

  await t.test('what is published again is a copy, but not what a database publishes that went back', async (t) => {
    await replaceStream({})
    const stream = watched()
    const publish = (name: string) =>
      new EventPublisher(connection, { stream, history: { name: async () => name } }).publish(event, '')
    for (const [history, messages] of [
      ['history-1', 1],
      ['history-1', 1],
      ['history-2', 2],
    ] as const) {
      await publish(history)
      t.equal((await ask(streamApi.info)).state.messages, messages)
    }
    lines.splice(0)
  })

  await t.test('what was right is asked for again after the connection was lost', async (t) => {
    const stream = watched()
    const publisher = new EventPublisher(connection, { stream, history })
    await publisher.publish(event, '')
    await replaceStream({ republish: { src: 'events.webhook.test', dest: 'rpc.wallet.creditAccount' } })
    stream.doubt()
    await t.rejects(publisher.publish(event, ''), { name: 'StreamFault' })
    await replaceStream({})
    lines.splice(0)
  })

  for (const options of [{ deliver_subject: 'rpc.wallet.creditAccount', max_waiting: undefined }, { max_deliver: 1 }]) {
    await t.test(`a consumer with ${JSON.stringify(options)} is not used`, async (t) => {
      await ask(`$JS.API.CONSUMER.DELETE.${eventStream}.webhooks-schedule-delivery`)
      const config = { ...consumerConfiguration(consumer), ...options }
      const subject = `$JS.API.CONSUMER.DURABLE.CREATE.${eventStream}.webhooks-schedule-delivery`
      const { error } = await ask(subject, { stream_name: eventStream, config })
      t.equal(error, undefined)
      const stream = watched()
      await t.rejects(stream.checkConsumer(consumer), {
        name: 'StreamFault',
        message: /differs from its configuration/,
      })
      t.ok(stream.differs)
    })
  }
})

const record: Reaction = {
  name: consumer.reaction,
  kinds: ['deposit.confirmed'],
  async react(events, { db }) {
    const ids = events.map(({ event: { id } }) => id)
    await db`insert into heard (event_id, type) select id, 'deposit.confirmed' from unnest(${ids}::text[]) as id`
  },
}

t.test('services that run', async (t) => {
  const bed = await testBed(t, { payments, webhooks: webhooksWith([record]) }, { timers })
  const { payments: sender, webhooks: receiver } = bed.services
  const streams = await bed.nats('streams')
  const ask = async (subject: string, request: object) =>
    (await streams.request(subject, JSON.stringify(request))).json<{
      error?: object
      state: { messages: number }
      num_waiting: number
    }>()
  const emit = () => emitOn(sender, bed.scope())
  const heard = async () => (await bed.sql('webhooks').query('select from heard')).rowCount
  const attempted = async () => (await bed.sql('payments').query('select from outbox where attempts > 0')).rowCount
  const stored = async () => (await ask(streamApi.info, {})).state.messages
  await emit()
  await timers.eventually(async () => (await heard()) === 1)

  await t.test('stop publishing and consuming when the stream is changed, and go on when it is mended', async (t) => {
    t.equal((await ask(streamApi.update, { ...configuration, subjects: ['events.>', 'others.>'] })).error, undefined)
    await timers.eventually(async () => !(await isReady(sender)) && !(await isReady(receiver)))
    const before = await stored()
    await emit()
    await timers.eventually(async () => (await attempted()) === 1)
    t.equal(await stored(), before, 'nothing is published')
    await makeStream(streams, settings, silent)
    t.equal(await timers.eventually(async () => (await isReady(sender)) && (await isReady(receiver))), true)
    t.equal(await timers.eventually(async () => (await heard()) === 2), true)
  })

  await t.test('stop consuming when the consumer is changed, and go on when it is mended', async (t) => {
    const changed = { ...consumerConfiguration(consumer), max_deliver: 5 }
    t.equal((await ask(consumerApi(consumer).create, { stream_name: eventStream, config: changed })).error, undefined)
    await timers.eventually(async () => !(await isReady(receiver)))
    t.ok(await isReady(sender), 'who does not consume goes on')
    const asked = async () => (await ask(consumerApi(consumer).info, {})).num_waiting
    await timers.eventually(async () => (await asked()) === 0)
    const before = await stored()
    await emit()
    await timers.eventually(async () => (await stored()) === before + 1)
    t.equal(await heard(), 2, 'nothing is consumed')
    await makeStream(streams, settings, silent)
    t.equal(await timers.eventually(async () => (await heard()) === 3), true)
    t.equal(await timers.eventually(() => isReady(receiver)), true)
  })
})
