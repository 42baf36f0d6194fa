import { freePort } from '@backoffice/dev-stack'
import { migrate } from '@backoffice/migrator/schema'
import { loadConfig } from '@backoffice/process'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { startService } from '../../src/testing.ts'
import { payments } from '../probe-services.ts'
import { startProbe } from '../start-probe.ts'

const bed = await testBed(t, { payments }, { startServices: false })
const admin = bed.sql('admin')

const start = (environment: Readonly<Record<string, string>> = {}) =>
  startService(
    payments,
    loadConfig(payments.configuration, { ...bed.environment('payments'), ...environment }) as never,
  )

/** Takes the last migration back. */
const goBack = () => admin.query("drop table payments.record; delete from payments.migration where name = '0001_probe'")

t.test('a service does not run on an older schema than its own', async (t) => {
  await goBack()
  await t.rejects(start({ SCHEMA_WAIT_MS: '0' }), { message: /older than this release: it lacks 0001_probe/ })
})

t.test('it waits for the migrator, and starts when that is done', async (t) => {
  const starting = start()
  const asked = `select from pg_stat_activity where datname = current_database() and query like '%from migration%'
    and pid <> pg_backend_pid()`
  await eventually(async () => (await admin.query(asked)).rowCount !== 0)
  t.same(await migrate({ service: 'payments', migrations: payments.migrations, url: bed.databaseUrl }), ['0001_probe'])
  await (await starting).drain()
})

t.test('it runs on a newer schema', async () => {
  const next = { name: '0002_next', sql: 'alter table payments.record add column next text' }
  await migrate({ service: 'payments', migrations: [...payments.migrations, next], url: bed.databaseUrl })
  await (await start({ SCHEMA_WAIT_MS: '0' })).drain()
})

t.test('SIGTERM ends the wait at once, for the migrator and for PostgreSQL', async (t) => {
  await goBack()
  const away = new URL(bed.environment('payments').DATABASE_URL ?? '')
  away.port = String(await freePort())
  for (const [environment, line] of [
    [{}, 'waiting until the database is prepared'],
    // However short the wait for the migrator is: nobody knows what is there.
    [{ DATABASE_URL: away.href, SCHEMA_WAIT_MS: '0' }, 'waiting for PostgreSQL'],
  ] as const) {
    const { child, ended, printed } = startProbe(t, bed, environment)
    await eventually(() => printed().includes(line))
    child.kill('SIGTERM')
    t.equal(await ended, 0, line)
  }
  await migrate({ service: 'payments', migrations: payments.migrations, url: bed.databaseUrl })
})

t.test('it does not run where reading is not held to reading', async (t) => {
  const database = new URL(bed.databaseUrl).pathname.slice(1)
  await admin.query(
    `alter role backoffice_payments_reader in database ${database} set default_transaction_read_only = off`,
  )
  await t.rejects(start({ SCHEMA_WAIT_MS: '0' }), { message: /its settings are not in force/ })
})
