import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { migrate } from '@backoffice/service-runtime/internal'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { wallet } from '../../src/service.ts'
import { latestReport } from '../../src/storage/reconciliations.ts'

let now = new Date('2026-03-02T12:00:00.000Z')
const bed = await testBed(t, { wallet }, { clock: { now: () => now }, config: { wallet: { RECONCILE_EVERY_MS: 100 } } })
for (const { name: service, migrations } of [payments, players])
  await migrate({ service, migrations, url: bed.databaseUrl })
await bed.start('wallet')
const runs = async () =>
  (await bed.sql('wallet').query(`select id, started_by, state from reconciliation order by id`)).rows

t.test('two replicas reconcile once in each period', async (t) => {
  // The first ones may have begun before the tables that the ledger is compared with were there.
  now = new Date(now.getTime() + 100)
  const period = now.getTime() / 100
  const of = (wanted: number) => async () => {
    const found = (await runs()).filter(({ id }) => id === `reconciliation_100_${wanted}`)
    return found[0]?.state === 'done' && found
  }
  t.match(await eventually(of(period)), [{ started_by: 'schedule', state: 'done' }])
  now = new Date(now.getTime() + 100)
  t.match(await eventually(of(period + 1)), [{ started_by: 'schedule' }])
  const ids = (await runs()).map(({ id }) => id)
  t.equal(ids.length, new Set(ids).size)
  t.ok(ids.length <= 3, 'one for each period that the clock has shown')
})

t.test('the report that finished last is what is measured', async (t) => {
  const report = await latestReport(bed.services.wallet.db)
  t.match(report, { production: 0, sandbox: 0 })
  t.ok(report !== undefined && report.finishedAt <= now)
})
