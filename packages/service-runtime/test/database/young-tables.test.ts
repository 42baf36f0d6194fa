import { eventually, holdOpen, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { analyzeYoungTables } from '../../src/database/purge.ts'
import { payments } from '../probe-services.ts'

const bed = await testBed(t, { payments })
const { db } = bed.services.payments
const admin = bed.sql('admin')

// PostgreSQL does the same by itself, now and then.
await admin.query('alter table payments.inbox set (autovacuum_enabled = off)')

/** The service does so too, every few seconds. @returns whether this table was young until now */
const look = async () => (await analyzeYoungTables(db)).includes('payments.inbox')
/** Under the lock of an analysis: one of the service's own, half-way, would count what is there by then. */
const write = (from: number, to: number) =>
  admin.query(`
    begin; lock table payments.inbox in share update exclusive mode;
    insert into payments.inbox select 'c', n::text, now() from generate_series(${from}, ${to}) n; commit
  `)
const planned = async () =>
  (await admin.query("select reltuples from pg_class where oid = 'payments.inbox'::regclass")).rows[0].reltuples

/** About: PostgreSQL estimates. A table that the service is about to analyse is nobody else's meanwhile. */
const isPlannedFor = (rows: number) =>
  eventually(async () => {
    await look()
    return Math.abs((await planned()) / rows - 1) < 0.1
  })
const hasStatistics = async () =>
  (await admin.query("select from pg_statistic where starelid = 'payments.inbox'::regclass")).rowCount !== 0

t.test('a table is analysed when it has rows, and again when it has grown by half', async (t) => {
  await look()
  await write(1, 1_000)
  await isPlannedFor(1_000)
  t.notOk(await look(), 'once')
  await write(1_001, 1_200)
  t.notOk(await look(), 'a fifth is not worth it')
  t.equal(await planned(), 1_000)
  await write(1_201, 2_000)
  await isPlannedFor(2_000)
})

t.test('so is a table that was restored: it has rows, indexes and no statistics', async (t) => {
  await admin.query("delete from pg_statistic where starelid = 'payments.inbox'::regclass")
  await look()
  await eventually(hasStatistics)
  t.notOk(await look())
})

t.test('a table whose rows have all gone is not young for ever', async (t) => {
  await admin.query('delete from payments.inbox')
  await admin.query("delete from pg_statistic where starelid = 'payments.inbox'::regclass")
  await look()
  t.notOk(await look())
})

t.test('a table that somebody holds is left for the next time', async (t) => {
  await write(1, 50_000)
  const before = await planned()
  const { rollback } = await holdOpen(admin, 'lock table payments.inbox in share update exclusive mode')
  t.notOk(await look())
  t.equal(await planned(), before)
  await rollback()
  await isPlannedFor(50_000)
})
