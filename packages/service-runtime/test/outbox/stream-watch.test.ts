import { cpSync, rmSync } from 'node:fs'
import { inboxOf, streamKeeper } from '@backoffice/contracts'
import { eventually, TestTimers, testBed } from '@backoffice/test-kit'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import t from 'tap'
import type { Reaction } from '../../src/index.ts'
import type { RunningService } from '../../src/testing.ts'
import { startOwnBroker } from '../own-broker.ts'
import { callsOn } from '../probe-calls.ts'
import { eventData, payments, webhooksWith } from '../probe-services.ts'

const broker = await startOwnBroker(t)
const copy = `${broker.store}-copy`

const clock = { offsetMs: 0, now: () => new Date(Date.now() + clock.offsetMs) }
const record: Reaction = {
  name: 'schedule-delivery',
  kinds: ['deposit.confirmed'],
  async react(events, { db }) {
    const ids = events.map(({ event }) => event.id)
    await db`insert into heard (event_id, type) select id, 'deposit.confirmed' from unnest(${ids}::text[]) as id`
  },
}
const timers = new TestTimers()
const bed = await testBed(
  t,
  { payments, webhooks: webhooksWith([record]) },
  { clock, timers, config: { payments: broker.environment, webhooks: broker.environment } },
)
const { NATS_URL: servers, NATS_PASSWORD: pass } = broker.environment
const asKeeper = connect({
  servers,
  user: streamKeeper,
  pass,
  inboxPrefix: inboxOf(streamKeeper),
  maxReconnectAttempts: -1,
  reconnectTimeWait: 100,
})
t.teardown(async () => (await asKeeper).close())
let service: RunningService = bed.services.payments
const { scope, unsent } = callsOn(bed)

async function emit(count: number): Promise<void> {
  await service.transact(async ({ db, emit, newId }) => {
    const record = newId('dep')
    await db`insert into record values (${record}, 1)`
    for (let index = 0; index < count; index++)
      emit({ kind: 'deposit.confirmed', aggregate: `${record}-${index}`, scope, data: eventData(record) })
  })
}

/** A broker that went away meanwhile never answers, so it is asked again soon, and after a longer wait each time. */
let waitMs = 300
async function stored(): Promise<number> {
  waitMs *= 1.5
  const manager = await jetstreamManager(await asKeeper, { checkAPI: false, timeout: waitMs })
  const { state } = await manager.streams.info('EVENTS')
  waitMs = 300
  return state.messages
}

const isStored = async (messages: number) => (await stored()) === messages && (await unsent()).length === 0

/** By a service that lives through it all: each event once, however often it was published. */
async function isHeardOnce(count: number): Promise<boolean> {
  const { rows } = await bed
    .sql('webhooks')
    .query('select count(*)::int as heard, count(distinct event_id)::int as ids from heard')
  return rows[0].heard === count && rows[0].ids === count
}

/** The broker's disk as it is now, to go back to. */
async function saveDisk(): Promise<void> {
  await broker.stop()
  rmSync(copy, { recursive: true, force: true })
  cpSync(broker.store, copy, { recursive: true })
  await broker.start()
  await eventually(stored)
}

/** As after a power cut: what the broker had not synced is gone, or all. */
async function loseDisk(what: 'since it was saved' | 'all'): Promise<void> {
  await broker.stop()
  rmSync(broker.store, { recursive: true })
  if (what !== 'all') cpSync(copy, broker.store, { recursive: true })
  await broker.start()
}

t.test('events that were acknowledged but lost with the broker are published again', async (t) => {
  await emit(20)
  await eventually(() => isStored(20))
  await saveDisk()
  await emit(250)
  await eventually(() => isStored(270))
  await loseDisk('since it was saved')
  t.equal(await eventually(() => isStored(270)), true)
})

t.test('a lost stream is made anew and rebuilt from the retained events', async (t) => {
  await loseDisk('all')
  t.equal(await eventually(() => isStored(270)), true)
  await emit(1)
  t.equal(await eventually(() => isStored(271)), true, 'and goes on')
  t.equal(await timers.eventually(() => isHeardOnce(271)), true, 'so does who consumes them')
})

t.test(
  'when service and broker die together, what was published last is published again by the next start',
  async (t) => {
    await saveDisk()
    await emit(30)
    await eventually(() => isStored(301))
    await service.drain()
    await loseDisk('since it was saved')
    service = await bed.start('payments')
    t.equal(await eventually(() => isStored(301)), true)
  },
)

t.test('also what was published while the clock of its process was an hour behind', async (t) => {
  await saveDisk()
  const before = await stored()
  clock.offsetMs = -3_600_000
  await emit(5)
  await eventually(() => isStored(before + 5))
  clock.offsetMs = 0
  await loseDisk('since it was saved')
  t.equal(await eventually(() => isStored(before + 5)), true)
})
