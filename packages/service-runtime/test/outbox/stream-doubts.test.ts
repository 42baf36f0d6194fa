import { hourMs } from '@backoffice/process'
import { eventually, type Teardown, TestTimers, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { StreamWatch } from '../../src/outbox/stream-watch.ts'
import { payments } from '../probe-services.ts'

const bed = await testBed(t, { payments })
const { db, log } = bed.services.payments
const timers = new TestTimers()

/** Writes down that an event was published so long ago. */
async function published(id: string, secondsAgo: number): Promise<void> {
  const message = { context: {}, event: { id, type: 'deposit.confirmed', data: {} } }
  await bed.sql('payments').query(
    `insert into published_event (published_at, id, message)
     select date_trunc('milliseconds', now()) - make_interval(secs => $2), $1, $3`,
    [id, secondsAgo, message],
  )
}

/** A watch over a stream that is on a broker of the test's imagination: it says when the connection is lost, and what is. */
async function watchOver(t: Teardown, lost: Set<string>, history = { hasChanged: async () => false }) {
  // The stream that the bed's own service has seen: with another one either watch would take the stream for a new one.
  const created = await eventually(async () => {
    const { rows } = await bed.sql('payments').query('select created from stream_seen')
    return rows[0]?.created ?? false
  })
  const broker = { isAway: false, failures: 0, checks: 0, created, isReady: Promise.resolve() }
  let say = (_: string) => {}
  const nats = {
    async *status() {
      for (;;) {
        const type = await new Promise<string>((resolve) => {
          say = resolve
        })
        yield { type }
      }
    },
  }
  const stream = {
    doubt() {},
    async check() {
      broker.checks += 1
      if (broker.isAway) throw new Error('the broker is away')
      return broker.created
    },
  }
  const sent: string[] = []
  const publisher = {
    // The stream drops copies of what it still has.
    async publish({ id }: { id: string }) {
      if (lost.has(id) && broker.failures-- > 0) throw new Error('the broker is away again')
      if (lost.delete(id)) sent.push(id)
      await broker.isReady
    },
  }
  const watch = new StreamWatch({ db, history, nats, stream, publisher, log, timers } as never)
  await watch.start()
  t.teardown(() => watch.stop())
  const connection = async (is: 'disconnect' | 'reconnect') => {
    say(is)
    await new Promise(setImmediate)
  }
  // Twice, so that what it asked for at its start is done.
  for (const checks of [2, 3]) {
    await connection('reconnect')
    await eventually(() => broker.checks >= checks)
  }
  return { broker, sent, connection, watch }
}

t.test('a process that starts publishes the five minutes before the last event again', async (t) => {
  await published('evt_before_start', 200)
  await published('evt_last', 20)
  const { sent } = await watchOver(t, new Set(['evt_before_start']))
  t.same(sent, ['evt_before_start'])
})

t.test('and so it does when the database went back, or was promoted', async (t) => {
  await published('evt_of_history', 200)
  const changes = { left: 0 }
  const lost = new Set<string>()
  const { sent, connection } = await watchOver(t, lost, { hasChanged: async () => changes.left-- > 0 })
  lost.add('evt_of_history')
  changes.left = 1
  await connection('reconnect')
  t.ok(await eventually(() => sent.includes('evt_of_history')))
})

t.test('publishing again that breaks off is made up for', async (t) => {
  await published('evt_broken_off', 10)
  const lost = new Set<string>()
  const { broker, sent, connection } = await watchOver(t, lost)
  lost.add('evt_broken_off')
  broker.failures = 1
  await connection('disconnect')
  await connection('reconnect')
  t.ok(await eventually(() => sent.includes('evt_broken_off')))
})

t.test('a connection that is lost again does not make it forget what the first loss put in doubt', async (t) => {
  await published('evt_of_first', hourMs / 2 / 1_000)
  const lost = new Set<string>()
  const { broker, sent, connection } = await watchOver(t, lost)
  lost.add('evt_of_first')
  broker.isAway = true
  // In doubt is what was published in the five minutes before a loss. PostgreSQL's own clock says that it is half an hour ago.
  await connection('disconnect')
  timers.advance(hourMs)
  await connection('disconnect')
  broker.isAway = false
  await connection('reconnect')
  t.ok(await eventually(() => sent.includes('evt_of_first')))
})

t.test('a rebuild that is stopped half way is not taken for done: the next process makes it', async (t) => {
  // More than a page, and the watch looks whether it is stopped at the beginning of each.
  const ids = Array.from({ length: 201 }, (_, n) => `evt_rebuilt_${n}`)
  for (const id of ids) await published(id, 60)
  const lost = new Set<string>()
  const { broker, sent, connection, watch } = await watchOver(t, lost)
  for (const id of ids) lost.add(id)
  const { promise, resolve } = Promise.withResolvers<void>()
  Object.assign(broker, { created: 'another', isReady: promise })
  await connection('reconnect')
  await eventually(() => sent.length > 0)
  const stopped = watch.stop()
  resolve()
  await stopped
  const { rows } = await bed.sql('payments').query('select created from stream_seen')
  t.not(rows[0].created, 'another')
})
