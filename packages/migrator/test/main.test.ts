import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, chownSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type BrokerUser,
  brokerUsers,
  consumerApi,
  consumerConfiguration,
  databaseRoles,
  type EventConsumerEntry,
  eventConsumers,
  serviceNames,
  streamApi,
  streamBytesDefault,
  streamBytesMin,
  streamConfiguration,
} from '@backoffice/contracts'
import { databaseUrl, freePort, startNats, startPostgres, startThrowAwayPostgres } from '@backoffice/dev-stack'
import { connectNats } from '@backoffice/rpc'
import { eventually, makeCertificate } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { prepareDatabase, type RolePasswords } from '../src/prepare-database.ts'

t.setTimeout(180_000)

const migrate = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const keepStream = fileURLToPath(new URL('../src/keep-stream.ts', import.meta.url))
const dir = t.testdir({ shared: {}, another: {}, secured: {}, late: {}, nats: {} })
chmodSync(dir, 0o755)
const server = await startThrowAwayPostgres(join(dir, 'shared'))
t.teardown(() => server.child.stop())

const passwordOf = (role: string) => `of-${role}`
const passwords = Object.fromEntries(
  databaseRoles.map((role) => [`DATABASE_PASSWORD_${role.toUpperCase()}`, passwordOf(role)]),
)

const natsPassword = (user: string) => `nats-of-${user}`
const natsOptions = {
  dir: join(dir, 'nats'),
  port: await freePort(),
  passwords: Object.fromEntries(brokerUsers.map((user) => [user, natsPassword(user)])) as Record<BrokerUser, string>,
  team: {},
}
let nats = await startNats(natsOptions)
t.teardown(() => nats.child.stop())
const broker = { NATS_URL: nats.url, NATS_PASSWORD: natsPassword('streams') }

interface Ending {
  readonly code: number
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a line
  readonly lines: any[]
}

function start(environment: Readonly<Record<string, string>>, program = migrate, options: readonly string[] = []) {
  const env = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...broker, ...environment }
  const child = spawn(process.execPath, [...options, program], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const ended = once(child, 'close').then(
    ([code]): Ending => ({
      code,
      lines: text
        .trimEnd()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    }),
  )
  return { child, ended, printed: () => text }
}

const run = (environment: Readonly<Record<string, string>>) => start(environment).ended

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function emptyDatabase(name: string): Promise<string> {
  await query(server.url, `create database ${name}`)
  return databaseUrl(server.url, name)
}

t.test('everything that is missing is named at once, as JSON and without a value', async (t) => {
  const given = { ADMIN_DATABASE_URL: 'mysql://somebody:hidden@nowhere/', NATS_URL: '', NATS_PASSWORD: '' }
  const { code, lines } = await run(given)
  t.equal(code, 1)
  t.equal(lines.length, 1)
  const { message } = lines[0].err
  for (const name of Object.keys({ ...given, ...passwords })) t.match(message, name)
  t.notMatch(message, 'hidden')
})

t.test('one run makes roles, schemas and tables; the next one finds nothing to do', async (t) => {
  const admin = await emptyDatabase('backoffice')
  const environment = { ADMIN_DATABASE_URL: admin, ...passwords }
  const first = await run(environment)
  t.equal(first.code, 0)
  const migrated = first.lines.filter(({ msg }) => msg === 'migrated').map(({ service }) => service)
  t.same(migrated, [...serviceNames])
  t.notOk(JSON.stringify(first.lines).includes('of-wallet'), 'passwords are not printed')

  for (const service of serviceNames) {
    const own = new URL(admin)
    own.username = `backoffice_${service}`
    own.password = passwordOf(service)
    t.same(await query(own.href, `select count(*)::int as rows from ${service}.outbox`), [{ rows: 0 }])
  }
  const second = await run(environment)
  t.equal(second.code, 0)
  t.same(
    second.lines.filter(({ msg }) => msg === 'migrated'),
    [],
  )
})

t.test('a superuser is not needed: who owns the database and may create roles can do it, and again', async (t) => {
  // Roles belong to a whole server, and who made them first may change them.
  const separate = await startThrowAwayPostgres(join(dir, 'another'))
  t.teardown(() => separate.child.stop())
  await query(separate.url, "create role owner login createrole password 'owner'")
  await query(separate.url, 'create database owned owner owner')
  const admin = new URL(databaseUrl(separate.url, 'owned'))
  admin.username = 'owner'
  admin.password = 'owner'
  for (const _ of [1, 2]) {
    const { code, lines } = await run({ ADMIN_DATABASE_URL: admin.href, ...passwords })
    t.equal(code, 0, JSON.stringify(lines.at(-1)))
  }
})

t.test('two at once: one does the work, and both end well', async (t) => {
  const admin = await emptyDatabase('contended')
  const endings = await Promise.all([1, 2].map(() => run({ ADMIN_DATABASE_URL: admin, ...passwords })))
  t.same(
    endings.map(({ code }) => code),
    [0, 0],
  )
  const migrated = endings.flatMap(({ lines }) => lines.filter(({ msg }) => msg === 'migrated'))
  t.equal(migrated.length, serviceNames.length, 'each schema was migrated by one of the two')
})

t.test('who holds up the preparation is named, and it does not wait for ever', async (t) => {
  const url = await emptyDatabase('held')
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('select pg_advisory_lock(3960215)')
  const waiting = prepareDatabase(url, {} as RolePasswords, undefined, 300)
  await t.rejects(waiting, { message: /somebody else prepares the database, and does not end: postgres \(pid \d+\)/ })
})

t.test('it waits for a PostgreSQL that starts later', async (t) => {
  const port = await freePort()
  const admin = `postgres://postgres:late@127.0.0.1:${port}/postgres`
  const early = start({ ADMIN_DATABASE_URL: admin, ...passwords })
  t.teardown(() => early.child.kill('SIGKILL'))
  await eventually(() => early.printed().includes('waiting for PostgreSQL'), 30_000)
  const late = await startPostgres({ dir: join(dir, 'late'), password: 'late', port, durable: false })
  t.teardown(() => late.child.stop())
  t.equal((await early.ended).code, 0)
})

t.test('it does not wait for ever', async (t) => {
  const port = await freePort()
  const nobody = `postgres://postgres:none@127.0.0.1:${port}/backoffice`
  const { code, lines } = await run({ ADMIN_DATABASE_URL: nobody, ...passwords, DATABASE_WAIT_MS: '1500' })
  t.equal(code, 1)
  t.same(
    lines.map(({ msg }) => msg),
    ['waiting for PostgreSQL', 'the database is not ready'],
  )
})

t.test('a wrong password is not waited for', async (t) => {
  const wrong = new URL(server.url)
  wrong.password = 'wrong'
  const { code, lines } = await run({ ADMIN_DATABASE_URL: wrong.href, ...passwords })
  t.equal(code, 1)
  t.match(lines, [{ err: { code: '28P01' } }])
})

t.test('with DATABASE_CA_FILE every connection is TLS, to a server that the authority vouches for', async (t) => {
  const [own, stranger] = [await makeCertificate(dir, 'own'), await makeCertificate(dir, 'stranger')]
  // A server that may still be starting is waited for, whatever it answers: here not at all.
  const trusting = { DATABASE_CA_FILE: own.certFile, DATABASE_WAIT_MS: '0' }
  const environment = { ADMIN_DATABASE_URL: server.url, ...trusting, ...passwords }
  t.match(await run(environment), { code: 1, lines: [{ err: { message: /does not support SSL/ } }] })

  const secured = await startThrowAwayPostgres(join(dir, 'secured'))
  t.teardown(() => secured.child.stop())
  const data = join(dir, 'secured/data')
  const { uid, gid } = statSync(data)
  chownSync(own.keyFile, uid, gid)
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `ssl_cert_file = '${own.certFile}'\nssl_key_file = '${own.keyFile}'\nssl = on\n`,
  )
  // It takes nothing but TLS from now on.
  writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all all scram-sha-256\n')
  process.kill(secured.child.pid, 'SIGHUP')
  // By name: PostgreSQL's driver verifies no certificate for an address.
  const url = secured.url.replace('127.0.0.1', 'localhost')
  await eventually(async () => (await run({ ...environment, ADMIN_DATABASE_URL: url })).code === 0, 60_000)
  const refused = await run({ ...environment, ADMIN_DATABASE_URL: url, DATABASE_CA_FILE: stranger.certFile })
  t.match(refused, { code: 1, lines: [{ err: { message: /self-signed|certificate/ } }] })
})

for (const [program, code] of [
  [migrate, 1],
  [keepStream, 0],
] as const)
  t.test(`SIGTERM while its modules are loaded ends it at once: ${basename(program)}`, async (t) => {
    const duringLoad = `import { registerHooks } from 'node:module'
      const hooks = registerHooks({
        load(url, context, load) {
          if (!url.includes('/service-runtime/')) return load(url, context)
          hooks.deregister()
          process.kill(process.pid, 'SIGTERM')
          return load(url, context)
        },
      })`
    const preload = `data:text/javascript,${encodeURIComponent(duringLoad)}`
    const port = await freePort()
    const nobody = { ADMIN_DATABASE_URL: `postgres://127.0.0.1:${port}/`, NATS_URL: `nats://127.0.0.1:${port}` }
    const { child, ended } = start({ ...nobody, ...passwords }, program, ['--import', preload])
    t.teardown(() => child.kill('SIGKILL'))
    t.equal((await ended).code, code)
  })

t.test('SIGTERM ends it although PostgreSQL never answers', async (t) => {
  const nobody = `postgres://postgres:none@127.0.0.1:${await freePort()}/backoffice`
  const { child, ended, printed } = start({ ADMIN_DATABASE_URL: nobody, ...passwords })
  t.teardown(() => child.kill('SIGKILL'))
  await eventually(() => printed().includes('waiting for PostgreSQL'), 30_000)
  child.kill('SIGTERM')
  t.equal((await ended).code, 1)
})

t.test('the stream and its consumer are made, and changed to what this release needs', async (t) => {
  const environment = { ADMIN_DATABASE_URL: await emptyDatabase('streaming'), ...passwords }
  const consumer = eventConsumers[0] as EventConsumerEntry
  const streams = await connectNats({ ...broker, NATS_USER: 'streams' }, { name: 'test' })
  t.teardown(() => streams.close())
  const ask = async (subject: string, request: object = {}) =>
    (await streams.request(subject, JSON.stringify(request))).json<{ config: Record<string, unknown> }>()

  // As a release before might have made it, and as somebody changed it since.
  const { max_bytes, ...before } = streamConfiguration({ replicas: 1, bytesMax: streamBytesMin })
  const changed = { subjects: ['events.>', '_INBOX_alice.>'], description: 'kept' }
  await ask(streamApi.update, { ...before, ...changed })
  t.match((await ask(streamApi.info)).config, { max_bytes: -1, ...changed })
  t.equal((await run({ ...environment, EVENTS_MAX_BYTES: String(streamBytesMin) })).code, 0)
  const { config } = await ask(streamApi.info)
  t.match(config, { ...before, max_bytes, description: 'kept' })
  t.same(config.subjects, ['events.>'])
  t.match((await ask(consumerApi(consumer).info)).config, consumerConfiguration(consumer))

  const again = await run({ ...environment, EVENTS_MAX_BYTES: String(streamBytesMin) })
  t.equal(again.code, 0)
  t.same(
    again.lines.filter(({ stream }) => stream !== undefined),
    [],
    'the next run changes nothing',
  )
})

t.test('without NATS the job fails, and says that it is the stream', async (t) => {
  const environment = { ADMIN_DATABASE_URL: await emptyDatabase('alone'), ...passwords, NATS_WAIT_MS: '500' }
  const { code, lines } = await run({ ...environment, NATS_URL: `nats://127.0.0.1:${await freePort()}` })
  t.equal(code, 1)
  // Not the last: a fatal line is written at once, and may overtake one that is on its way.
  t.ok(lines.some(({ msg }) => msg === 'the stream is not ready'))
})

t.test('SIGTERM ends the keeper at once while it waits for NATS', async (t) => {
  const nobody = { NATS_URL: `nats://127.0.0.1:${await freePort()}` }
  const { child, ended, printed } = start(nobody, keepStream)
  t.teardown(() => child.kill('SIGKILL'))
  await eventually(() => printed().includes('NATS cannot be reached yet'), 30_000)
  child.kill('SIGTERM')
  t.equal((await ended).code, 0)
})

t.test('the keeper makes a lost stream again, changes nothing that is there, and ends with 0', async (t) => {
  const { child, ended, printed } = start({}, keepStream)
  t.teardown(() => child.kill('SIGKILL'))
  await eventually(() => printed().includes('keeping the stream'), 30_000)
  await nats.child.stop()
  rmSync(join(natsOptions.dir, 'jetstream'), { recursive: true })
  nats = await startNats(natsOptions)
  const streams = await connectNats({ ...broker, NATS_USER: 'streams' }, { name: 'test' })
  t.teardown(() => streams.close())
  const ask = async (subject: string, request: object = {}) =>
    (await streams.request(subject, JSON.stringify(request))).json<{ config?: Record<string, unknown> }>()
  const consumer = eventConsumers[0] as EventConsumerEntry
  const made = await eventually(async () => (await ask(consumerApi(consumer).info)).config ?? false, 30_000)
  t.match(made, consumerConfiguration(consumer))

  const { config } = await ask(streamApi.info)
  const next = { ...config, max_bytes: 2 * streamBytesDefault }
  t.match((await ask(streamApi.update, next)).config, { max_bytes: 2 * streamBytesDefault })
  await eventually(() => printed().includes('configured otherwise'), 30_000)
  t.match(
    (await ask(streamApi.info)).config,
    { max_bytes: 2 * streamBytesDefault },
    'the next release may have said so',
  )
  child.kill('SIGTERM')
  t.equal((await ended).code, 0)
})
