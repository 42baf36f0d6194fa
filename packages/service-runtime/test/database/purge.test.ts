import { operations } from '@backoffice/contracts'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { purge, runtimeRetentions } from '../../src/database/purge.ts'
import { dayMs, newId } from '../../src/index.ts'
import { enterInbox } from '../../src/messages/set-aside.ts'
import { countUp, payments, wallet } from '../probe-services.ts'

// Before any time at which PostgreSQL runs, whose clock has a say too.
const start = new Date('2025-03-02T12:00:00.000Z')
let now = start
const clock = { now: () => now }
const bed = await testBed(t, { payments, wallet }, { clock })
const { db } = bed.services.payments
const scope = bed.scope()

const retention = (table: string) => {
  const found = runtimeRetentions.find((entry) => entry.table === table)
  if (found === undefined) throw new Error(`no retention of ${table}`)
  return found
}
const count = async (table: string) => (await bed.sql('payments').query(`select from ${table}`)).rowCount

t.test('a stored reply is kept for its retention and not a moment longer', async (t) => {
  const operationId = newId('opn')
  await bed.rpc.call(countUp, { scope, input: { record: 'kept' }, operationId })
  // PostgreSQL's clock has stamped it.
  await bed.sql('payments').query('update operation set created_at = $1', [start])
  const { keepMs } = retention('operation')
  now = new Date(start.getTime() + keepMs)
  t.equal(await purge({ db, clock }, retention('operation')), 0)
  now = new Date(now.getTime() + 1)
  t.equal(await purge({ db, clock }, retention('operation')), 1)
  t.equal(await count('operation'), 0)
})

t.test('outbox rows go by the time they were done; unfinished ones stay for ever', async (t) => {
  now = start
  await bed.sql('payments').query(
    `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, created_at, leased_until, done_at)
     values ('old', 'a', 1, 'event', 'x', '{}', $1, null, $1), ('open', 'b', 1, 'event', 'x', '{}', $1, $2, null)`,
    [new Date(start.getTime() - 400 * dayMs), new Date('2100-01-01')],
  )
  t.equal(await purge({ db, clock }, retention('outbox')), 1)
  t.same((await bed.sql('payments').query("select id from outbox where id in ('old', 'open')")).rows, [{ id: 'open' }])
})

t.test('more than one batch goes, batch by batch', async (t) => {
  await bed
    .sql('payments')
    .query(
      `insert into inbox (consumer, event_id, received_at) select 'c', n::text, $1 from generate_series(1, 2500) n`,
      [new Date(start.getTime() - 100 * dayMs)],
    )
  t.equal(await purge({ db, clock }, retention('inbox')), 2500)
})

t.test('a process whose clock runs ahead deletes nothing before its time', async (t) => {
  const row = `insert into inbox (consumer, event_id, received_at) values ('c', 'of today', now())`
  await bed.sql('payments').query(row)
  now = new Date(Date.now() + 1_000 * dayMs)
  t.equal(await purge({ db, clock }, retention('inbox')), 0)
})

t.test('a process whose clock has stopped long ago writes nothing that is purged at once', async (t) => {
  now = start
  const operationId = newId('opn')
  await bed.rpc.call(countUp, { scope, input: { record: 'of a slow clock' }, operationId })
  await bed.rpc.call(operations.payments.abandonOperation, { scope, input: { abandonedOperationId: newId('opn') } })
  const right = { db, clock: { now: () => new Date() } }
  t.equal(await purge(right, retention('operation')), 0)
  t.equal(await count('operation'), 2)
  const before = (await count('inbox')) ?? 0
  await db.transaction((tx) => enterInbox(tx, 'a reaction', [newId('evt')]))
  t.equal(await purge(right, retention('inbox')), 0)
  t.equal(await count('inbox'), before + 1)
})

t.test('what the sandbox left goes earlier than what production left', async (t) => {
  now = start
  await bed.sql('admin').query('delete from payments.operation')
  const keepMs = 72 * 3_600_000
  const production = bed.scope({ environment: 'production' })
  for (const each of [scope, production])
    await bed.rpc.call(countUp, { scope: each, input: { record: each.environment, sends: ['event'] } })
  await eventually(
    async () => (await db`select from outbox where done_at is not null and environment is not null`).length === 2,
  )
  await db`update outbox set done_at = ${now}::timestamptz where environment is not null`
  await db`update operation set created_at = ${now}::timestamptz where environment is not null`
  const environments = async (table: string) =>
    (
      await bed.sql('payments').query(`select environment from ${table} where environment is not null order by 1`)
    ).rows.map(({ environment }) => environment)
  for (const table of ['operation', 'outbox']) {
    now = new Date(start.getTime() + keepMs)
    t.equal(await purge({ db, clock }, retention(table), keepMs), 0)
    now = new Date(now.getTime() + 1)
    t.equal(await purge({ db, clock }, retention(table), keepMs), 1)
    t.same(await environments(table), ['production'])
  }
})

t.test('the inbox is kept longer than the outbox, and both longer than a stored reply', async (t) => {
  t.ok(retention('inbox').keepMs > retention('outbox').keepMs)
  t.ok(retention('outbox').keepMs > retention('operation').keepMs)
  t.ok(retention('operation').keepMs > 2 * dayMs, 'a claim of an Idempotency-Key is deleted after two days')
  t.notOk(runtimeRetentions.some(({ table }) => table === 'audit_entry'))
})
