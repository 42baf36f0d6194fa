import type { Socket } from 'node:net'
import { type Logger, limitsMs } from '@backoffice/process'
import type { Migration } from '@backoffice/service-runtime'
import { eventually, TestTimers, testBed } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { payments } from '../../../packages/service-runtime/test/probe-services.ts'
import { migrate } from '../src/migrate.ts'

const bed = await testBed(t, { payments }, { startServices: false })
const admin = bed.sql('admin')
const timers = new TestTimers()

/** Of what was applied here: each test adds to it. */
const before: Migration[] = [...payments.migrations]

/** Applies the migrations after all those before them. */
async function apply(migrations: readonly Migration[], heard?: Pick<Logger, 'warn'>): Promise<string[]> {
  const log = heard && ({ info() {}, ...heard } as unknown as Logger)
  const all = [...before, ...migrations]
  return migrate({ service: 'payments', migrations: all, url: bed.databaseUrl, log, timers })
}

/** A connection of somebody else, whose transaction has read the records and stays open until `end`. */
async function openReader() {
  const client = new pg.Client({ connectionString: bed.databaseUrl })
  await client.connect()
  await client.query('begin isolation level repeatable read read only')
  await client.query('select from payments.record')
  return { end: () => client.end() }
}

const isValid = async (index: string): Promise<boolean | undefined> => {
  const text = 'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)'
  return (await admin.query(text, [index])).rows[0]?.valid
}

const writeRecord = (id: string) =>
  bed
    .sql('payments')
    .query('insert into record (id, count) values ($1, 1)', [id])
    .then(({ rowCount }) => rowCount)

t.test('a migration that meets a lock lets those behind it go on, and is tried again', async (t) => {
  const reader = await openReader()
  t.teardown(() => reader.end())
  let [gaveUp, isApplied] = [0, false]
  const note = { name: '0002_note', sql: 'alter table payments.record add column note text' }
  const applied = apply([note], { warn: () => (gaveUp += 1) }).finally(() => (isApplied = true))
  const waiting = "select from pg_locks where relation = 'payments.record'::regclass and not granted"
  const untilItWaits = () => timers.eventually(async () => (await admin.query(waiting)).rowCount !== 0)
  await untilItWaits()
  t.equal(await writeRecord('behind it'), 1)
  await eventually(() => gaveUp > 0)
  await untilItWaits()
  await reader.end()
  await timers.eventually(() => isApplied)
  t.same(await applied, [note.name])
  before.push(note)
})

t.test('each migration is applied by itself: what came before one that fails stays', async (t) => {
  const sound = { name: '0003_sound', sql: 'alter table payments.record add column sound text' }
  const broken = { name: '0004_broken', sql: 'alter table payments.record add column broken text; select 1 / 0' }
  await t.rejects(apply([sound, broken]), /division by zero/)
  const mended = { ...broken, sql: 'alter table payments.record add column broken text' }
  t.same(await apply([sound, mended]), ['0004_broken'])
  before.push(sound, mended)
})

t.test('PostgreSQL ends what would hold its locks for too long', async (t) => {
  const said = `(select string_agg(name || ' ' || setting, ', ' order by name) from pg_settings where name ~ '_timeout$' and setting <> reset_val)`
  const telling = { name: '0005_telling', sql: `do $$ begin raise exception '%', ${said}; end $$` }
  const limits = `lock_timeout ${limitsMs.migrationLock}, statement_timeout ${limitsMs.migrationStatement}`
  await t.rejects(apply([telling]), { message: limits })
})

t.test('an index is built while others read and write; one whose builder died is built again', async (t) => {
  const index: Migration = {
    name: '0005_index',
    sql: 'create index concurrently record_count on payments.record (count)',
    transactional: false,
  }
  const reader = await openReader()
  t.teardown(() => reader.end())
  // It waits for the reader. Both outcomes are looked at below, so it must not be nobody's until then.
  const building = apply([index]).then(
    () => 'built',
    (error) => String(error),
  )
  await eventually(async () => (await isValid('payments.record_count')) === false)
  t.equal(await writeRecord('meanwhile'), 1)
  await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'create index concurrently%'`)
  t.match(await building, /terminat/)
  t.equal(await isValid('payments.record_count'), false, 'half an index is left')
  await reader.end()

  t.same(await apply([index]), [index.name])
  t.equal(await isValid('payments.record_count'), true)
  await admin.query('delete from payments.migration where name = $1', [index.name])
  t.same(await apply([index]), [index.name], 'one whose builder died before it was recorded is only recorded')
  before.push(index)
})

t.test('PostgreSQL may still build for a migrator that is gone: the next one ends with a whole index', async (t) => {
  const index: Migration = {
    name: '0006_second_index',
    sql: 'create index concurrently record_sound on payments.record (sound)',
    transactional: false,
  }
  const reader = await openReader()
  t.teardown(() => reader.end())
  const gone = new pg.Client({ connectionString: bed.databaseUrl })
  gone.on('error', () => {})
  await gone.connect()
  const lost = t.rejects(gone.query(index.sql))
  await eventually(async () => (await isValid('payments.record_sound')) === false)
  // Its session does not notice, because it has nothing to say until the index is built.
  ;(gone as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy()
  await lost
  const applied = apply([index])
  const waiting = `select from pg_stat_activity
    where datname = current_database() and query like 'drop index concurrently%'`
  await eventually(async () => (await admin.query(waiting)).rowCount !== 0)
  await reader.end()
  t.same(await applied, [index.name])
  t.equal(await isValid('payments.record_sound'), true)
  before.push(index)
})

t.test('a rule is added without reading the table, and then validated while others write', async (t) => {
  const rule: Migration = {
    name: '0007_rule',
    sql: 'alter table payments.record add constraint short_note check (length(note) < 9) not valid',
  }
  const validation: Migration = {
    name: '0008_validation',
    sql: 'alter table payments.record validate constraint short_note',
    transactional: false,
  }
  t.same(await apply([rule, validation]), [rule.name, validation.name])
  before.push(rule, validation)
})

t.test('outside of a transaction nothing runs that is not safe to run again', async (t) => {
  for (const sql of [
    'create index record_note on payments.record (note)',
    'create index concurrently if not exists record_note on payments.record (note)',
    'create index concurrently record_note on payments.record (note); select 1',
    "update payments.record set note = ''",
  ])
    await t.rejects(apply([{ name: '0009_other', sql, transactional: false }]), /may not be safe to run it again/, sql)
})
