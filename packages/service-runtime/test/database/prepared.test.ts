import { freePort } from '@backoffice/dev-stack'
import { migrate } from '@backoffice/migrator/schema'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { payments } from '../probe-services.ts'
import { startProbe } from '../start-probe.ts'

t.setTimeout(120_000)
const patienceMs = 60_000
const bed = await testBed(t, { payments }, { startServices: false })
const admin = bed.sql('admin')

const start = (environment?: Readonly<Record<string, string>>) => startProbe(t, bed, environment)

/** Takes the last migration back. */
const goBack = () => admin.query("drop table payments.record; delete from payments.migration where name = '0001_probe'")

t.test('a service does not run on an older schema than its own', async (t) => {
  await goBack()
  const { ended, printed } = start({ SCHEMA_WAIT_MS: '0' })
  t.equal(await ended, 1)
  t.match(printed(), /"level":60.*the schema is older than this release: it lacks 0001_probe/)
})

t.test('it waits for the migrator, and starts when that is done', async (t) => {
  const { child, ended, printed } = start()
  await eventually(() => printed().includes('waiting for the migrations'), patienceMs)
  t.match(printed(), 'it lacks 0001_probe')
  t.notMatch(printed(), '"started"')
  t.same(await migrate({ service: 'payments', migrations: payments.migrations, url: bed.databaseUrl }), ['0001_probe'])
  await eventually(() => printed().includes('"started"'), patienceMs)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('it runs on a newer schema', async (t) => {
  const next = { name: '0002_next', sql: 'alter table payments.record add column next text' }
  await migrate({ service: 'payments', migrations: [...payments.migrations, next], url: bed.databaseUrl })
  const { child, ended, printed } = start({ SCHEMA_WAIT_MS: '0' })
  await eventually(() => printed().includes('"started"'), patienceMs)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('SIGTERM ends the wait at once, for the migrator and for PostgreSQL', async (t) => {
  await goBack()
  const away = new URL(bed.environment('payments').DATABASE_URL ?? '')
  away.port = String(await freePort())
  for (const [environment, line] of [
    [{}, 'waiting for the migrations'],
    // However short the wait for the migrator is: nobody knows what is there.
    [{ DATABASE_URL: away.href, SCHEMA_WAIT_MS: '0' }, 'waiting for PostgreSQL'],
  ] as const) {
    const { child, ended, printed } = start(environment)
    await eventually(() => printed().includes(line), patienceMs)
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
  const { ended, printed } = start({ SCHEMA_WAIT_MS: '0' })
  t.equal(await ended, 1)
  t.match(printed(), 'its settings are not in force')
})
