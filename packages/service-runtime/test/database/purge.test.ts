import { operations, streamMaxAgeDays } from '@backoffice/contracts'
import { dayMs, hourMs, loadConfig, newId } from '@backoffice/process'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { purge, retentionFor, runtimeRetentions } from '../../src/database/purge.ts'
import { enterInbox } from '../../src/messages/consumer.ts'
import { assertInboxOutlivesEvents, serviceConfig } from '../../src/settings.ts'
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
  await eventually(async () => (await db`select from published_event`).length === 2)
  await db`update published_event set published_at = ${now}::timestamptz`
  await db`update operation set created_at = ${now}::timestamptz where environment is not null`
  const environments = async (table: string) => {
    const environment = table === 'operation' ? 'environment' : `message #>> '{event,environment}'`
    const { rows } = await bed.sql('payments').query(`select ${environment} as environment from ${table} order by 1`)
    return rows.map(({ environment }) => environment)
  }
  for (const table of ['operation', 'published_event']) {
    now = new Date(start.getTime() + keepMs)
    t.equal(await purge({ db, clock }, retention(table), keepMs), 0)
    now = new Date(now.getTime() + 1)
    t.equal(await purge({ db, clock }, retention(table), keepMs), 1)
    t.same(await environments(table), ['production'])
  }
})

t.test(
  'the inbox is kept longer than the stream and what fills it, and a reply as long as it may be asked for',
  async (t) => {
    t.ok(retention('inbox').keepMs > streamMaxAgeDays * dayMs + retention('published_event').keepMs)
    t.ok(retention('operation').keepMs > 2 * dayMs, 'a claim of an Idempotency-Key is deleted after two days')
    t.notOk(runtimeRetentions.some(({ table }) => table === 'audit_entry'))
  },
)

t.test(
  'settings say how long rows are kept, and their defaults are the retentions that stand in the code',
  async (t) => {
    const settings = loadConfig(serviceConfig, { DATABASE_URL: 'x', NATS_URL: 'x' })
    const set = runtimeRetentions.filter(({ setting }) => setting !== undefined)
    t.equal(set.length, runtimeRetentions.length)
    for (const each of set) t.same(retentionFor(each, settings), each, each.table)
    t.equal(retentionFor(retention('operation'), { REPLIES_KEEP_HOURS: 50 }).keepMs, 50 * hourMs)
    t.equal(retentionFor(retention('inbox'), { INBOX_KEEP_DAYS: 20 }).keepMs, 20 * dayMs)
    t.throws(() => assertInboxOutlivesEvents({ ...settings, EVENTS_KEEP_HOURS: 97 }), {
      message: 'INBOX_KEEP_DAYS must be at least 19 with this EVENTS_KEEP_HOURS',
    })
    assertInboxOutlivesEvents({ ...settings, EVENTS_KEEP_HOURS: 96 })
  },
)

const partitions = async () =>
  (
    await bed.sql('admin').query(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'payments.published_event'::regclass order by 1`,
    )
  ).rows.map(({ name }) => name as string)
const dayOf = (date: Date) => `published_event_${date.toISOString().slice(0, 10).replaceAll('-', '')}`
const inDays = (days: number) => new Date(Date.now() + days * dayMs)

t.test(
  'published events have a partition for each day, a week ahead, and a day is dropped when all of it is too old',
  async (t) => {
    now = new Date()
    const published = retention('published_event')
    const old = inDays(-4)
    await bed.sql('admin').query(`
    alter table payments.published_event detach partition payments.published_event_other;
    create table payments.${dayOf(old)} (like payments.published_event);
    alter table payments.published_event attach partition payments.published_event_other default;
    alter table payments.published_event attach partition payments.${dayOf(old)}
      for values from ('${old.toISOString().slice(0, 10)} 00:00Z') to ('${inDays(-3).toISOString().slice(0, 10)} 00:00Z');
    drop table payments.${dayOf(inDays(2))}`)
    const row = (at: Date) =>
      bed.sql('payments').query(`insert into published_event values ($1, 'evt_kept', '{}')`, [at])
    await row(old)
    await purge({ db, clock }, { ...published, keepMs: 5 * dayMs })
    t.ok((await partitions()).includes(dayOf(old)))
    t.same(
      (await partitions()).filter((name) => name > dayOf(inDays(-1)) && name !== 'published_event_other'),
      [...Array.from({ length: 8 }, (_, day) => dayOf(inDays(day)))],
    )
    await purge({ db, clock }, published)
    t.notOk((await partitions()).includes(dayOf(old)))
    t.equal(await count(`published_event where id = 'evt_kept'`), 0)
  },
)

t.test('no service can have younger partitions dropped, whatever it asks for', async (t) => {
  const before = await partitions()
  await bed.sql('payments').query(`select tend_published_events(now() + interval '1 year', 0)`)
  t.same(await partitions(), before)
})

t.test('an event of a day without a partition is kept and purged like any other', async (t) => {
  now = new Date()
  const published = retention('published_event')
  const put = (id: string, at: Date) =>
    bed.sql('payments').query(`insert into published_event values ($1, $2, '{}')`, [at, id])
  await put('evt_ahead', inDays(30))
  await put('evt_old', inDays(-9))
  await purge({ db, clock }, published)
  const { rows } = await bed.sql('payments').query('select id from published_event_other order by id')
  t.ok(rows.some(({ id }) => id === 'evt_ahead'))
  t.notOk(rows.some(({ id }) => id === 'evt_old'))
})

t.test('whoever reads the log for long delays neither publishing nor the next partition for long', async (t) => {
  now = new Date()
  const reader = await bed.sql('admin').connect()
  try {
    await reader.query(`drop table payments.${dayOf(inDays(3))}`)
    await reader.query('begin')
    await reader.query('select count(*) from payments.published_event')
    await t.rejects(purge({ db, clock }, retention('published_event')), /lock timeout/)
    await bed.rpc.call(countUp, { scope, input: { record: 'beside a reader', sends: ['event'] } })
    await eventually(async () => (await db`select from outbox where aggregate = 'beside a reader'`).length === 0)
  } finally {
    await reader.query('rollback')
    reader.release()
  }
  await purge({ db, clock }, retention('published_event'))
  t.ok((await partitions()).includes(dayOf(inDays(3))))
})
