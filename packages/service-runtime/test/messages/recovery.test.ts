import { rmSync } from 'node:fs'
import { TestTimers, testBed } from '@backoffice/test-kit'
import t from 'tap'
import type { Reaction } from '../../src/index.ts'
import { startOwnBroker } from '../own-broker.ts'
import { eventData, payments, webhooksWith } from '../probe-services.ts'

const broker = await startOwnBroker(t)
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
  { timers, config: { payments: broker.environment, webhooks: broker.environment } },
)

let emitted = 0
async function emit(): Promise<void> {
  emitted += 1
  await bed.services.payments.transact(async ({ db, emit: send, newId }) => {
    const deposit = newId('dep')
    await db`insert into record values (${deposit}, 1)`
    send({ kind: 'deposit.confirmed', aggregate: deposit, scope: bed.scope(), data: eventData(deposit) })
  })
}
async function heardAll(): Promise<boolean> {
  const { rows } = await bed
    .sql('webhooks')
    .query('select count(*)::int, count(distinct event_id)::int as ids from heard')
  return rows[0].count === emitted && rows[0].ids === emitted
}

t.test('events are heard, once each, over a restart of the broker and the loss of its disk', async (t) => {
  await emit()
  t.equal(await timers.eventually(heardAll), true)
  await broker.stop()
  await emit()
  await broker.start()
  t.equal(await timers.eventually(heardAll), true, 'after a restart')
  await broker.stop()
  rmSync(broker.store, { recursive: true })
  await emit()
  await broker.start()
  t.equal(await timers.eventually(heardAll), true, 'after a loss')
  await emit()
  t.equal(await timers.eventually(heardAll), true)
})
