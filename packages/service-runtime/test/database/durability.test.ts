import { startPostgres } from '@backoffice/dev-stack'
import { loadConfig } from '@backoffice/process'
import { eventually, temporaryFolder, testBed } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { startService } from '../../src/testing.ts'
import { payments } from '../probe-services.ts'

// That of the tests waits for no disk.
const { url: postgresUrl, child } = await startPostgres({ dir: temporaryFolder(t), password: 'durable' })
t.teardown(() => child.stop())
const bed = await testBed(t, { payments }, { startServices: false, servers: { postgresUrl } })
const admin = bed.sql('admin')

const start = (DEVELOPMENT: string) =>
  startService(
    payments,
    loadConfig(payments.configuration, { ...bed.environment('payments'), SCHEMA_WAIT_MS: '0', DEVELOPMENT }) as never,
  )

async function serves(t: Test, what: string, DEVELOPMENT = 'false') {
  const service = await start(DEVELOPMENT)
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
    await t.rejects(start('false'), { message: new RegExp(`may forget what it has committed: ${name} is off`) }, name)
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
    const service = await start('false').catch((error: Error) => {
      t.match(error.message, `may forget what it has committed: synchronous_commit is ${value}`)
    })
    if (service === undefined) continue
    taken.push(value)
    await service.drain()
  }
  t.same(taken.sort(), ['on', 'remote_apply'], 'the disk here and, where there is one, of the standby')
})
