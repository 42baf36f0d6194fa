import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, keptEvents, refusal, type Teardown, TestTimers, testBed } from '@backoffice/test-kit'
import { jetstream } from '@nats-io/jetstream'
import t from 'tap'
import type { RunningService } from '../../src/testing.ts'
import { callsOn, failCredits, holdCredits } from '../probe-calls.ts'
import { countUp, crediting, creditOf, eventData, payments, wallet } from '../probe-services.ts'

const timers = new TestTimers()
const bed = await testBed(t, { payments, wallet }, { timers })
const second = await bed.start('payments')
const { scope, unsent } = callsOn(bed)

interface Heard {
  readonly id: string
  readonly data: { readonly id: string }
}

/** The events that come from now on: no webhooks service takes them from this bed. */
async function hear(t: Teardown): Promise<readonly Heard[]> {
  const listener = await bed.nats('webhooks')
  const consumer = await jetstream(listener).consumers.get('EVENTS', 'webhooks-schedule-delivery')
  const messages = await consumer.consume()
  t.teardown(() => messages.close())
  const heard: Heard[] = []
  void (async () => {
    for await (const message of messages) {
      heard.push(message.json())
      message.ack()
    }
  })()
  return heard
}

t.test('events of one record leave in the order of their writing, over two replicas', async (t) => {
  const heard = await hear(t)

  const rounds = 20
  const records = ['a', 'b', 'c']
  for (let round = 0; round < rounds; round++) {
    const service = round % 2 === 0 ? bed.services.payments : second
    await Promise.all(
      records.map((record) =>
        service.transact(async ({ db, emit }) => {
          await db`insert into record values (${record}, 1) on conflict (id) do update set count = record.count + 1`
          for (const half of [0, 1])
            emit({
              kind: 'deposit.confirmed',
              aggregate: record,
              scope,
              data: eventData(`${record}-${String(round * 2 + half).padStart(3, '0')}`),
            })
        }),
      ),
    )
  }
  const ids = () => heard.map(({ data }) => data.id)
  await eventually(() => ids().length === rounds * 2 * records.length)
  for (const record of records) {
    const seen = ids().filter((id) => id.startsWith(record))
    t.same(seen, seen.toSorted(), record)
    t.equal(new Set(seen).size, rounds * 2)
  }
})

t.test('a command waits for no event of its record: the stream may be away for longer', async (t) => {
  const operationId = newId('opn')
  const comeBack = failCredits(operationId)
  await bed.sql('payments').query(
    `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
     values ('evt_stuck', 'stuck', 1, 'event', 'x', '{}', 'sandbox', now(), now() + interval '1 hour')`,
  )
  const call = () =>
    bed.rpc.call(countUp, { scope, input: { record: 'stuck', sends: ['command', 'event'] }, operationId })
  t.equal(await refusal(call()), 'SERVICE_UNAVAILABLE')
  comeBack()
  t.same(await call(), { count: 1 })
  t.same(await unsent('stuck'), [{ kind: 'event' }, { kind: 'event' }], 'its own event does wait for the earlier one')
  await bed.sql('payments').query("delete from outbox where aggregate = 'stuck'")
})

t.test('what a process of the next release wrote leaves as it is, with fields that are not known here', async (t) => {
  const heard = await hear(t)
  await bed.rpc.call(countUp, { scope, input: { record: 'pattern', sends: ['event'] }, operationId: 'opn_pattern' })
  const { event } = (
    await bed
      .sql('payments')
      .query(`select message from ${keptEvents('payments')} where message #>> '{event,data,id}' = 'opn_pattern-0'`)
  ).rows[0].message
  const newer = { ...event, id: newId('evt'), data: { ...event.data, channel: 'app' } }
  const credit = { ...creditOf('newer'), channel: 'app' }
  await bed.sql('payments').query(
    `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at)
     values ('cmd_newer', 'newer', 1, 'command', 'wallet.creditAccount', $1, 'sandbox', now()),
       ($2, 'newer', 2, 'event', 'deposit.confirmed', $3, 'sandbox', now())`,
    [{ context: {}, scope, input: credit }, newer.id, { context: {}, event: newer }],
  )
  await eventually(async () => (await unsent('newer')).length === 0)
  const { rows } = await bed.sql('wallet').query("select calls from credit where reference = 'newer'")
  t.same(rows, [{ calls: 1 }])
  t.same(await eventually(() => heard.find(({ id }) => id === newer.id)), newer)
})

t.test('what the table does not allow is not written: the transaction fails', async (t) => {
  for (const wrong of [
    { kind: 'deposit.confirmed', aggregate: 'wrong', scope, data: { ...eventData('wrong'), channel: 'app' } },
    { operation: operations.wallet.creditAccount, aggregate: 'wrong', scope, input: { depositId: 'dep_1' } },
  ]) {
    const write = bed.services.payments.transact(async ({ emit, send }) =>
      'operation' in wrong ? send(wrong as never) : emit(wrong as never),
    )
    await t.rejects(write, /is not valid/)
  }
  t.same(await unsent('wrong'), [])
})

t.test('a command that fails is tried again by itself until it is done', async (t) => {
  const operationId = newId('opn')
  let failures = 2
  crediting.during = async (reference) => {
    if (reference.startsWith(operationId) && failures-- > 0) throw new Error('not yet')
  }
  await t.rejects(bed.rpc.call(countUp, { scope, input: { record: 'persistent', sends: ['command'] }, operationId }))
  await eventually(async () => (await unsent('persistent')).length === 0)
  const { rows } = await bed.sql('wallet').query('select calls from credit where reference = $1', [`${operationId}-0`])
  t.same(rows, [{ calls: 1 }])
})

t.test('what stands behind a command leaves as soon as that one is done, without a poll', async (t) => {
  timers.stop(t)
  const call = (sends: ('event' | 'command')[]) => bed.rpc.call(countUp, { scope, input: { record: 'hurried', sends } })
  const held = holdCredits()
  const answer = call(['command'])
  await eventually(() => held.asked() === 1)
  await call(['event'])
  t.equal((await unsent('hurried')).length, 2)
  held.release()
  await answer
  await eventually(async () => (await unsent('hurried')).length === 0)
})

const health = async (service: RunningService, path: string) =>
  (await fetch(`http://127.0.0.1:${service.healthPort}${path}`)).status

t.test('a drain finishes what is under way, refuses nothing it took, and takes nothing more', async (t) => {
  await bed.services.payments.drain()
  const replica = second
  const held = holdCredits()
  const call = bed.rpc.call(countUp, { scope, input: { record: 'drained', sends: ['command', 'event'] } })
  await eventually(() => held.asked() === 1)
  const drained = replica.drain()
  await eventually(async () => (await health(replica, '/readyz')) === 503)
  t.equal(await health(replica, '/healthz'), 200, 'it lives while it drains')
  // The broker hears of it a moment later; until then calls are still answered.
  const late = () => refusal(bed.rpc.call(countUp, { scope, input: { record: 'late' } }))
  await eventually(async () => (await late()) === 'SERVICE_UNAVAILABLE')
  held.release()
  t.same(await call, { count: 1 })
  await drained
  await replica.drain()
  t.same(await unsent(), [], 'its last events left with it')
  await t.rejects(health(replica, '/healthz'))
})
