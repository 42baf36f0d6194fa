import { freePort, startPostgres } from '@backoffice/local-stack'
import { migrate } from '@backoffice/migrator/schema'
import { loadConfig } from '@backoffice/process'
import { eventually, temporaryFolder, testBed } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { startService } from '../../src/testing.ts'
import { payments } from '../probe-services.ts'
import { startProbe } from '../start-probe.ts'

// That of the tests waits for no disk.
const { url: postgresUrl, child } = await startPostgres({ dir: temporaryFolder(t), password: 'durable' })
t.teardown(() => child.stop())
const bed = await testBed(t, { payments }, { startServices: false, servers: { postgresUrl } })
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
    [{}, 'waiting until the migration Job has prepared the database'],
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
  await admin.query(`alter role backoffice_payments_reader in database ${database} reset default_transaction_read_only`)
})

const startIn = (DEVELOPMENT: string) => start({ SCHEMA_WAIT_MS: '0', DEVELOPMENT })

async function serves(t: Test, what: string, DEVELOPMENT = 'false') {
  const service = await startIn(DEVELOPMENT)
  await service.drain()
  t.pass(what)
}

async function ofServer(name: string, value: string) {
  await admin.query(`alter system set ${name} = '${value}'`)
  await admin.query('select pg_reload_conf()')
  await eventually(async () => (await admin.query(`show ${name}`)).rows[0][name] === value)
}

t.test('a server that may forget what it has acknowledged is refused by name, and taken in development', async (t) => {
  await serves(t, 'a server as it comes')
  for (const name of ['fsync', 'full_page_writes']) {
    await ofServer(name, 'off')
    await t.rejects(startIn('false'), { message: new RegExp(`may forget what it has committed: ${name} is off`) }, name)
    await serves(t, name, 'true')
    await ofServer(name, 'on')
  }
})

t.test("a server's synchronous_commit is not the services': their commits wait", async (t) => {
  await ofServer('synchronous_commit', 'off')
  for (const role of ['backoffice_payments', 'backoffice_payments_reader'])
    await serves(t, `${role}: ${(await admin.query('show synchronous_commit')).rows[0].synchronous_commit} elsewhere`)
  const { rows } = await bed.sql('payments').query('show synchronous_commit')
  t.same(rows, [{ synchronous_commit: 'on' }])
  await ofServer('synchronous_commit', 'on')
})

t.test('of the values that PostgreSQL knows for synchronous_commit, a service takes those that wait', async (t) => {
  const database = new URL(bed.databaseUrl).pathname.slice(1)
  const { rows } = await admin.query(
    "select unnest(enumvals) as value from pg_settings where name = 'synchronous_commit'",
  )
  const taken = []
  for (const { value } of rows) {
    await admin.query(`alter role backoffice_payments in database ${database} set synchronous_commit = '${value}'`)
    const service = await startIn('false').catch((error: Error) => {
      t.match(error.message, `may forget what it has committed: synchronous_commit is ${value}`)
    })
    if (service === undefined) continue
    taken.push(value)
    await service.drain()
  }
  t.same(taken.sort(), ['on', 'remote_apply'], 'the disk here and, where there is one, of the standby')
})
