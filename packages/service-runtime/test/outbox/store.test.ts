import { dayMs, hourMs, newId, systemTimers } from '@backoffice/process'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { writeRecords } from '../../src/commands/record.ts'
import { Dispatch } from '../../src/outbox/sending.ts'
import { type EventRow, leaseDue, release, toRow } from '../../src/outbox/store.ts'
import { addUp, eventData, payments } from '../probe-services.ts'

const clock = { now: () => new Date(Date.now() + dayMs) }
const bed = await testBed(t, { payments }, { clock })
const { db, rpc, log } = bed.services.payments

t.test("since when a row waits is PostgreSQL's to say: the clock of this process is a day ahead", async (t) => {
  const [record, operationId] = ['waits', newId('opn')]
  // There is no service that does the command.
  const input = { record, by: 1, sends: ['command' as const] }
  t.equal(await refusal(bed.rpc.call(addUp, { scope: bed.scope(), input, operationId })), 'SERVICE_UNAVAILABLE')
  t.match(await db`select created_at <= now() as is_past from outbox where operation_id = ${operationId}`, [
    { isPast: true },
  ])
})

t.test('a row that could not be sent is given back with its fault, and no other row is touched', async (t) => {
  await db`
    insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
    select id, id, 1, 'command', 'wallet.creditAccount', '{}', 'sandbox', now(), now() + interval '1 hour'
    from unnest(array['failed', 'other']) id
  `
  await release(db, [{ id: 'failed', delayMs: 0, error: new Error('the receiver is away') }])
  t.match(
    await db`select id, last_fault is not null as has_fault, leased_until > now() + interval '30 minutes' as leased from outbox where id in ('failed', 'other') order by id`,
    [
      { id: 'failed', hasFault: true, leased: false },
      { id: 'other', hasFault: false, leased: true },
    ],
  )
})

t.test('a row that somebody has leased is taken by nobody else until the lease has ended', async (t) => {
  const taken = async () => {
    const ids = (await leaseDue(db, 'command')).map(({ id }) => id)
    const rows = await db<{ attempts: number }>`select attempts from outbox where id = 'other'`
    return ids.includes('other') || rows[0]?.attempts !== 0
  }
  t.notOk(await taken())
  await db`update outbox set leased_until = now() - interval '1 second' where id = 'other'`
  t.ok(await eventually(taken))
})

t.test('an event is not taken while an earlier command of its record is unfinished', async (t) => {
  await db`
    insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
    values ('credit', 'rec', 1, 'command', 'x', '{}', 'sandbox', now(), now() + interval '1 hour'), ('event', 'rec', 2, 'event', 'x', '{}', 'sandbox', now(), null)
  `
  const attempts = async () =>
    (await db<{ attempts: number }>`select attempts from outbox where id = 'event'`)[0]?.attempts
  t.same(await leaseDue(db, 'event'), [])
  t.equal(await attempts(), 0)
  await db`delete from outbox where id = 'credit'`
  // By this or by the service's own relay.
  t.ok(await eventually(async () => (await leaseDue(db, 'event')).length > 0 || (await attempts()) !== 0))
})

/** What an operation left that sent two events about one record and one about another. */
async function leave(name: string) {
  const now = clock.now()
  const aggregates = [`${name} a`, `${name} a`, `${name} b`]
  const rows = aggregates.map(
    (aggregate) =>
      toRow(
        { kind: 'deposit.confirmed', aggregate, scope: bed.scope(), data: eventData(name) },
        { now, context: {} },
      ) as EventRow,
  )
  const operationId = newId('opn')
  const record = {
    operationId,
    name,
    scope: bed.scope(),
    fingerprint: '',
    reply: { body: null },
    result: null,
    rows,
    governed: null,
  }
  const behind = await db.transaction((tx) => writeRecords(tx, [record], { command: {}, now }))
  return { sent: { operationId, rows, behind }, ids: rows.map(({ id }) => id) }
}

/** A dispatch whose broker refuses the events that a test names. */
function faultyDispatch() {
  const published: string[] = []
  const refused = new Set<string>()
  const publisher = {
    async publish({ id }: { id: string }) {
      if (refused.has(id)) throw new Error('the broker is away')
      published.push(id)
    },
  }
  const relay = { nudge() {} }
  const wall = { behindMs: 0 }
  const timers = { ...systemTimers, now: () => Date.now() - wall.behindMs }
  const context = { db, rpc, publisher, relay, clock, log, timers } as never
  return { dispatch: new Dispatch(context), published, refused, wall }
}
const soon = () => new Date(Date.now() + hourMs)

t.test('events of one record leave one after another, and those of another beside them', async (t) => {
  const { dispatch, published } = faultyDispatch()
  const { sent, ids } = await leave('in order')
  await dispatch.finish(sent, soon())
  await dispatch.stop()
  t.same(new Set(published), new Set(ids))
  t.ok(published.indexOf(ids[0] as string) < published.indexOf(ids[1] as string))
  const { rowCount } = await bed.sql('payments').query('select from outbox where id = any($1)', [ids])
  t.equal(rowCount, 0)
})

t.test('an event that could not leave holds back the later ones of its record only', async (t) => {
  const { dispatch, published, refused } = faultyDispatch()
  const { sent, ids } = await leave('held back')
  refused.add(ids[0] as string)
  await dispatch.finish(sent, soon())
  await dispatch.stop()
  t.same(published, [ids[2]])
  await eventually(async () => {
    const { rows } = await bed.sql('payments').query('select id from outbox where id = any($1)', [ids])
    return rows.length === 0
  })
  t.pass('the relay went on with them')
})

t.test('an event does not leave before a command that its record still waits for', async (t) => {
  const { dispatch, published } = faultyDispatch()
  await bed.sql('payments').query(
    `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
     values ('cmd_first', 'behind a', 1, 'command', 'x', '{}', 'sandbox', now(), now() + interval '1 hour')`,
  )
  const { sent, ids } = await leave('behind')
  await dispatch.finish(sent, soon())
  await dispatch.stop()
  t.same(published, [ids[2]], 'the other record waits for nothing')
  await bed.sql('payments').query("delete from outbox where aggregate = 'behind a'")
})

t.test('who waits for an operation waits no longer when the clock steps back meanwhile', async (t) => {
  const { dispatch, wall } = faultyDispatch()
  await bed.sql('payments').query(
    `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, operation_id, created_at, leased_until)
     values ('cmd_waited', 'waited', 1, 'command', 'x', '{}', 'sandbox', 'opn_waited', now(), now() + interval '1 hour')`,
  )
  const waiting = dispatch.finishOperation('opn_waited', new Date(Date.now() + 200)).catch(({ code }) => code)
  wall.behindMs = hourMs
  t.equal(await waiting, 'SERVICE_UNAVAILABLE')
  await bed.sql('payments').query("delete from outbox where id = 'cmd_waited'")
})
