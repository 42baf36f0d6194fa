// proof: the Job, with servers that come and go. What it does to a database, other tests here show.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
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
import { databaseUrl, freePort, startNats, startPostgres } from '@backoffice/local-stack'
import { connectNats } from '@backoffice/rpc'
import { eventually, startProcess, temporaryFolder } from '@backoffice/test-kit'
import pg from 'pg'
import t, { type Test } from 'tap'
import { runMigrationJob } from '../src/migration-job.ts'
import { prepareDatabases, type RolePasswords } from '../src/prepare-database.ts'

const dir = temporaryFolder(t)
const postgresOptions = { dir: join(dir, 'postgres'), password: 'of-postgres', port: await freePort(), durable: false }
let server = await startPostgres(postgresOptions)
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
}
let nats = await startNats(natsOptions)
t.teardown(() => nats.child.stop())
const broker = { NATS_URL: nats.url, NATS_PASSWORD: natsPassword('streams'), DEVELOPMENT: 'true' }
type Environment = Readonly<Record<string, string>>

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a line
const linesOf = (text: string): readonly any[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** What the Job does, in this process. */
function run(environment: Environment) {
  let text = ''
  const ended = runMigrationJob(
    { ...broker, ...environment },
    {
      write(line) {
        text += line
      },
    },
  )
  return { ended: ended.then((code) => ({ code, lines: linesOf(text) })), printed: () => text }
}

/** The keeper of the stream, as a process of its own. */
function startKeeper(t: Test) {
  const env = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...broker, ...passwords }
  const file = fileURLToPath(new URL('../src/keep-stream.ts', import.meta.url))
  return startProcess(t, [process.execPath, file], { env })
}

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Asks JetStream as the keeper of the stream does. */
async function connectStreams(t: Test) {
  const streams = await connectNats({ ...broker, NATS_USER: 'streams' }, { name: 'test' })
  t.teardown(() => streams.close())
  return async (subject: string, request: object = {}) =>
    (await streams.request(subject, JSON.stringify(request))).json<{ config: Record<string, unknown> }>()
}

async function emptyDatabase(name: string): Promise<string> {
  await query(server.url, `create database ${name}`)
  return databaseUrl(server.url, name)
}

/** On a database that the first test prepares. */
const prepared = { ADMIN_DATABASE_URL: databaseUrl(server.url, 'backoffice'), ...passwords }

t.test(
  'one run makes roles, schemas and tables, for whoever owns the database and may create roles; the next finds nothing to do',
  async (t) => {
    await query(server.url, "create role owner login createrole password 'owner'")
    await query(server.url, 'create database backoffice owner owner')
    const owner = new URL(prepared.ADMIN_DATABASE_URL)
    owner.username = 'owner'
    owner.password = 'owner'
    const environment = { ...prepared, ADMIN_DATABASE_URL: owner.href }
    const servicesIn = ({ lines }: Awaited<ReturnType<typeof run>['ended']>) =>
      lines.filter(({ msg }) => msg.endsWith('was migrated')).map(({ service }) => service)
    const first = await run(environment).ended
    t.equal(first.code, 0, JSON.stringify(first.lines.at(-1)))
    t.same(servicesIn(first), [...serviceNames])
    t.notOk(JSON.stringify(first.lines).includes('of-wallet'), 'passwords are not printed')

    for (const service of serviceNames) {
      const own = new URL(owner)
      own.username = `backoffice_${service}`
      own.password = passwordOf(service)
      t.same(await query(own.href, `select count(*)::int as rows from ${service}.outbox`), [{ rows: 0 }])
    }
    const second = await run(environment).ended
    t.equal(second.code, 0)
    t.same(servicesIn(second), [])
  },
)

t.test('two at once: one does the work, and both end well', async (t) => {
  const admin = await emptyDatabase('contended')
  const endings = await Promise.all([1, 2].map(() => run({ ADMIN_DATABASE_URL: admin, ...passwords }).ended))
  t.same(
    endings.map(({ code }) => code),
    [0, 0],
  )
  const migrated = endings.flatMap(({ lines }) => lines.filter(({ msg }) => msg.endsWith('was migrated')))
  t.equal(migrated.length, serviceNames.length, 'each schema was migrated by one of the two')
})

t.test('who holds up the preparation is named, and it does not wait for ever', async (t) => {
  const url = await emptyDatabase('held')
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('select pg_advisory_lock(3960215)')
  const waiting = prepareDatabases([{ url, services: serviceNames }], {} as RolePasswords, { turnWaitMs: 300 })
  await t.rejects(waiting, { message: /somebody else prepares the database, and does not end: postgres \(pid \d+\)/ })
})

t.test('it waits for a PostgreSQL that starts later', async (t) => {
  await server.child.stop()
  const early = run(prepared)
  await eventually(() => early.printed().includes('waiting for PostgreSQL'))
  server = await startPostgres(postgresOptions)
  const { code, lines } = await early.ended
  t.equal(code, 0, JSON.stringify(lines.at(-1)))
})

t.test('the stream and its consumer are made, and changed to what this release needs', async (t) => {
  const consumer = eventConsumers[0] as EventConsumerEntry
  const ask = await connectStreams(t)

  // As a release before might have made it, and as somebody changed it since.
  const { max_bytes, ...before } = streamConfiguration({ replicas: 1, bytesMax: streamBytesMin })
  const changed = { subjects: ['events.>', '_INBOX_alice.>'], description: 'kept' }
  await ask(streamApi.update, { ...before, ...changed })
  t.match((await ask(streamApi.info)).config, { max_bytes: -1, ...changed })
  t.equal((await run({ ...prepared, EVENTS_MAX_BYTES: String(streamBytesMin) }).ended).code, 0)
  const { config } = await ask(streamApi.info)
  t.match(config, { ...before, max_bytes, description: 'kept' })
  t.same(config.subjects, ['events.>'])
  t.match((await ask(consumerApi(consumer).info)).config, consumerConfiguration(consumer))

  const again = await run({ ...prepared, EVENTS_MAX_BYTES: String(streamBytesMin) }).ended
  t.equal(again.code, 0)
  t.same(
    again.lines.filter(({ stream }) => stream !== undefined),
    [],
    'the next run changes nothing',
  )
})

t.test('the keeper makes a lost stream again, changes nothing that is there, and ends with 0', async (t) => {
  const { child, ended, printed } = startKeeper(t)
  await eventually(() => printed().includes('watching over the event stream'))
  await nats.child.stop()
  rmSync(join(natsOptions.dir, 'jetstream'), { recursive: true })
  nats = await startNats(natsOptions)
  const ask = await connectStreams(t)
  const consumer = eventConsumers[0] as EventConsumerEntry
  const made = await eventually(async () => (await ask(consumerApi(consumer).info)).config ?? false)
  t.match(made, consumerConfiguration(consumer))

  const { config } = await ask(streamApi.info)
  const next = { ...config, max_bytes: 2 * streamBytesDefault }
  t.match((await ask(streamApi.update, next)).config, { max_bytes: 2 * streamBytesDefault })
  await eventually(() => printed().includes('differs from its configuration'))
  t.match(
    (await ask(streamApi.info)).config,
    { max_bytes: 2 * streamBytesDefault },
    'the next release may have said so',
  )
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test(
  'with a URL of its own a service lives alone, and each role sees what it was granted, wherever that is',
  async (t) => {
    const [common, own] = [await emptyDatabase('common'), await emptyDatabase('of_wallet')]
    const environment = { ADMIN_DATABASE_URL: common, ADMIN_DATABASE_URL_WALLET: own, ...passwords }
    const as = (role: string, url: string, text: string) => {
      const login = new URL(url)
      login.username = `backoffice_${role}`
      login.password = passwordOf(role.replace('_reader', ''))
      return query(login.href, text)
    }
    const schemasOf = async (url: string) =>
      (await query(url, "select schemaname as name from pg_tables where tablename = 'migration' order by 1")).map(
        ({ name }) => name,
      )
    // The second run finds the links of the first.
    for (const time of ['first', 'second']) {
      const { code, lines } = await run(environment).ended
      t.equal(code, 0, `${time}: ${JSON.stringify(lines.at(-1))}`)
    }
    t.same(await schemasOf(common), ['gateway', 'payments', 'players', 'reconciler', 'webhooks'])
    t.same(await schemasOf(own), ['reconciler', 'wallet'])

    await query(common, "insert into gateway.ended_session values ('ana', '', 'infinity')")
    for (const role of ['wallet', 'wallet_reader', 'reconciler'])
      t.same(await as(role, own, 'select person_id from gateway.ended_session'), [{ person_id: 'ana' }], role)
    t.same(await as('reconciler', own, 'select id from payments.reconcilable_deposit'), [])
    await as('reconciler', own, "insert into at_gateway.next_moment values ('run')")
    t.match(await as('reconciler', own, 'select at from at_gateway.moment'), [{ at: Date }])

    const denied = { code: '42501' }
    await t.rejects(as('wallet', own, 'select from payments.reconcilable_deposit'), denied)
    await t.rejects(as('wallet', own, "insert into gateway.ended_session values ('bob', '', 'infinity')"), denied)
    await t.rejects(as('reconciler', own, 'select from payments.deposit'), { code: '42P01' })
    t.same(await as('webhooks', common, 'select id from wallet.published_event'), [])
    // Which holds are open, and nothing else of it.
    t.same(await as('payments', own, 'select from wallet.open_hold'), [])
    await t.rejects(as('payments', own, 'select from wallet.entry'), denied)
    await t.rejects(as('players', own, 'select'), denied)
    await t.rejects(as('wallet', common, 'select from payments.deposit'), denied)
  },
)

t.test('a database that does not sort by bytes is not linked', async (t) => {
  const common = await emptyDatabase('sorted')
  await query(server.url, "create database by_words template template0 locale_provider icu icu_locale 'en'")
  const environment = { ADMIN_DATABASE_URL: common, ADMIN_DATABASE_URL_WALLET: databaseUrl(server.url, 'by_words') }
  const { code, lines } = await run({ ...environment, ...passwords }).ended
  t.equal(code, 1)
  t.match(lines.at(-1).err.message, 'by_words sorts text by words')
})
