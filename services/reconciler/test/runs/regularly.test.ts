import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { beginRun, findCheckpoint, latestReport } from '../../src/storage/reconciliations.ts'
import { ledgerBed } from './run.ts'

let now = new Date('2026-03-02T12:00:00.000Z')
const bed = await ledgerBed(t, {
  clock: { now: () => now },
  config: { reconciler: { RECONCILE_EVERY_MS: 100, RECONCILE_FULL_WITHIN_DAYS: 2 } },
})
await bed.start('reconciler')
const runs = async () =>
  (await bed.sql('reconciler').query(`select id, started_by, state, is_full from reconciliation order by id`)).rows
const periodOf = (at: Date) => `reconciliation_100_${Math.floor(at.getTime() / 100)}`
const done = (id: string) =>
  eventually(async () => (await runs()).find((run) => run.id === id && run.state === 'done') ?? false)

t.test('two replicas reconcile once in each period', async (t) => {
  // The first ones may have begun before the tables that the ledger is compared with were there.
  now = new Date(now.getTime() + 100)
  t.match(await done(periodOf(now)), { started_by: 'schedule', state: 'done' })
  now = new Date(now.getTime() + 100)
  t.match(await done(periodOf(now)), { started_by: 'schedule' })
  const ids = (await runs()).map(({ id }) => id)
  t.equal(ids.length, new Set(ids).size)
  t.ok(ids.length <= 3, 'one for each period that the clock has shown')
})

t.test('the report that finished last is what is measured', async (t) => {
  const report = await latestReport(bed.services.reconciler.db)
  t.same(report?.differencesOf, [])
  t.ok(report !== undefined && report.finishedAt <= now)
})

t.test('a run is full once a day, from a set hour on, and again when it did not end', async (t) => {
  const { db } = bed.services.reconciler
  const next = async (at: string) => {
    now = new Date(at)
    return (await done(periodOf(now))).is_full
  }
  t.equal(await next('2026-03-03T05:59:00.000Z'), false)
  t.equal(await next('2026-03-03T06:00:00.000Z'), true)
  t.equal(await next('2026-03-03T06:01:00.000Z'), false)
  t.same((await findCheckpoint(db))?.fullAt, new Date('2026-03-03T06:00:00.000Z'))
  // A replica is at it, and then says nothing any more.
  const began = new Date('2026-03-04T06:00:00.000Z')
  const progress = { check: 'chains', done: 0, total: 0 }
  await beginRun(db, { id: 'reconciliation_elsewhere', startedBy: 'schedule', isFull: true, progress, now: began })
  t.equal(await next('2026-03-04T06:00:30.000Z'), false, 'one at a time')
  t.equal(await next('2026-03-04T06:02:00.000Z'), true)
  t.equal(await next('2026-03-04T06:03:00.000Z'), false)
})
