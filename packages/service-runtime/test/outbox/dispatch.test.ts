import { hourMs, newId, systemTimers } from '@backoffice/process'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { noGate } from '../../src/commands/gate.ts'
import { writeRecords } from '../../src/commands/record.ts'
import { Dispatch } from '../../src/outbox/sending.ts'
import { type EventRow, toRow } from '../../src/outbox/store.ts'
import { eventData, payments } from '../probe-services.ts'

const bed = await testBed(t, { payments })
const { db, rpc, clock, log } = bed.services.payments

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
    audit: null,
  }
  const behind = await db.transaction((tx) => writeRecords(tx, [record], { gate: noGate, now }))
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
  const { rowCount } = await bed.sql('payments').query('select from outbox')
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
