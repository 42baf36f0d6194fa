import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BrokerUser, databaseRoles } from '@backoffice/contracts'
import {
  databaseUrl,
  freePort,
  type StackSecrets,
  sharedRolePasswords,
  stackSecrets,
  startThrowAwayPostgres,
  withOtherRoles,
} from '@backoffice/local-stack'
import { migrate, provisionDatabase, services, settingsOf } from '@backoffice/migrator/schema'
import type { Service } from '@backoffice/service-runtime/testing'
import pg from 'pg'
import type { StartedTestContainer } from 'testcontainers'

const deployFolder = fileURLToPath(new URL('../../../deploy/', import.meta.url))
const startupTimeoutMs = 120_000
// A letter first: nats-server reads a value that begins with a digit as a number.
const randomPassword = () => `p${randomBytes(12).toString('hex')}`

/** A server in a container: what a test needs of it. */
export interface ServerContainer {
  readonly url: string
  /** Kills it, and resolves when it runs again, with its disk, under the same address if it has a lasting `port`. */
  readonly crash: () => Promise<void>
  /** Ends it with all that it stored. */
  readonly stop: () => Promise<void>
}

/**
 * Whether tests are to run on containers: when BACKENDS asks for them, never because an engine answers.
 * @throws for a word that means nothing, which would else run everything on other servers than somebody believes
 */
export function areContainersWanted({ BACKENDS: wanted = 'embedded' }: NodeJS.ProcessEnv = process.env): boolean {
  if (wanted !== 'embedded' && wanted !== 'containers') throw new Error(`BACKENDS is embedded or containers: ${wanted}`)
  return wanted === 'containers'
}

/**
 * PostgreSQL in a container, as the local overlay has it.
 * @param port on this machine, of a server that is to crash; any when left out
 * @throws when no Docker engine answers
 */
export async function startPostgresContainer(connectionsMax: number, port?: number): Promise<ServerContainer> {
  const password = randomPassword()
  const { GenericContainer, Wait } = await engine()
  const container = await new GenericContainer(imageIn('k8s/overlays/local/postgres.yaml', 'postgres'))
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withCommand(['postgres', '-c', `max_connections=${connectionsMax}`])
    .withExposedPorts(port === undefined ? 5432 : { container: 5432, host: port })
    // Over TCP: the server of the first initialisation listens on its socket only.
    .withWaitStrategy(Wait.forSuccessfulCommand('pg_isready --host=127.0.0.1 --username=postgres'))
    .withStartupTimeout(startupTimeoutMs)
    .start()
  return running(container, `postgresql://postgres:${password}@${addressOf(container, 5432)}/postgres`)
}

/**
 * nats-server in a container, with the users and the configuration of a single production server.
 * @param passwords of the programs
 * @param port on this machine, of a server that is to crash; any when left out
 * @throws when no Docker engine answers
 */
export async function startNatsContainer(
  passwords: Readonly<Record<BrokerUser, string>>,
  port?: number,
): Promise<ServerContainer> {
  const variables = Object.entries(passwords).map(([user, own]) => [`NATS_PASSWORD_${user.toUpperCase()}`, own])
  const { GenericContainer, Wait } = await engine()
  const container = await new GenericContainer(imageIn('k8s/base/nats.yaml', 'nats'))
    .withEnvironment(Object.fromEntries(variables))
    .withCopyDirectoriesToContainer([{ source: `${deployFolder}nats`, target: '/etc/backoffice-nats' }])
    .withCommand(['--config', '/etc/backoffice-nats/single.conf'])
    .withExposedPorts(port === undefined ? 4222 : { container: 4222, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .withStartupTimeout(startupTimeoutMs)
    .start()
  return running(container, `nats://${addressOf(container, 4222)}`)
}

/** Loaded late: it is large, and few tests run on containers. */
async function engine() {
  const testcontainers = await import('testcontainers')
  await testcontainers.getContainerRuntimeClient().catch((cause) => {
    throw new Error('BACKENDS=containers takes a Docker engine, and none answers', { cause })
  })
  return testcontainers
}

/** The version of production, with its digest once the images are pinned. */
function imageIn(manifest: string, name: string): string {
  const [, image] = new RegExp(`image: (${name}:\\S+)`).exec(readFileSync(`${deployFolder}${manifest}`, 'utf8')) ?? []
  if (image === undefined) throw new Error(`deploy/${manifest} names no image of ${name}`)
  return image
}

const addressOf = (container: StartedTestContainer, port: number) =>
  `${container.getHost()}:${container.getMappedPort(port)}`

function running(container: StartedTestContainer, url: string): ServerContainer {
  return {
    url,
    async crash() {
      const { container: containers } = await (await engine()).getContainerRuntimeClient()
      await containers.getById(container.getId()).kill()
      await container.restart()
    },
    stop: async () => void (await container.stop()),
  }
}

let server: Promise<string> | undefined

/** The superuser's URL of the tests' PostgreSQL: `POSTGRES_URL`, or else one that ends with this process. */
export function postgres(): Promise<string> {
  server ??= process.env.POSTGRES_URL === undefined ? startOwn() : Promise.resolve(process.env.POSTGRES_URL)
  return server
}

async function startOwn(): Promise<string> {
  const { url, stop } = await startTestPostgres()
  const { default: tap } = await import('tap')
  tap.teardown(stop)
  return url
}

/** PostgreSQL for a process or a whole run, in a container where these are asked for. Nothing of it survives `stop`. */
export async function startTestPostgres(
  connectionsMax = 100,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  if (areContainersWanted()) return startPostgresContainer(connectionsMax)
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-postgres-'))
  chmodSync(dir, 0o755)
  const { url, child } = await startThrowAwayPostgres(dir, connectionsMax)
  child.unref()
  return {
    url,
    async stop() {
      await child.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export interface TestDatabase {
  /** The superuser's URL of this database. */
  readonly url: string
  readonly drop: () => Promise<void>
}

let databases = 0

/** What a database is prepared for. */
export type MigratedService = Pick<Service, 'name' | 'migrations'>

/**
 * A database of its own, provisioned and migrated: a copy of a template that is made once per server. It has the tables of
 * every service, however few are given, or only theirs where a test brings tables of its own.
 */
export async function createDatabase(
  given: readonly MigratedService[],
  administratorUrl: string,
): Promise<TestDatabase> {
  const isOwn = ({ migrations }: MigratedService) => services.every((one) => one.migrations !== migrations)
  // Every service looks into the gateway's schema for sessions of the team that were ended.
  const [gateway] = services
  const prepared = gateway !== undefined && given.some(isOwn) ? [gateway, ...given] : services
  return createFrom(administratorUrl, await ensureTemplate(administratorUrl, prepared))
}

/** A database without anything in it, on the given server. */
export function createEmptyDatabase(administratorUrl: string): Promise<TestDatabase> {
  return createFrom(administratorUrl, 'template1')
}

async function createFrom(administratorUrl: string, template: string): Promise<TestDatabase> {
  databases += 1
  const name = `backoffice_test_${process.pid}_${Date.now().toString(36)}_${databases}`
  // Its files are copied. By default each page of them goes through the log, which costs twice as much.
  const statement = `create database ${name} template ${template} strategy file_copy`
  await asAdministrator(administratorUrl, (client) => client.query(statement))
  return {
    url: databaseUrl(administratorUrl, name),
    drop: () => asAdministrator(administratorUrl, (client) => client.query(`drop database ${name} with (force)`)),
  }
}

/** An arbitrary number. Everyone who makes templates on one server takes this lock. */
const templateLock = 5_081_776
/** Of this process, by server and name. */
const templates = new Map<string, Promise<unknown>>()

async function ensureTemplate(administratorUrl: string, services: readonly MigratedService[]): Promise<string> {
  const hash = createHash('sha256')
    .update(String(provisionDatabase))
    .update(JSON.stringify(databaseRoles.map(settingsOf)))
  for (const service of services) {
    for (const { name, sql } of service.migrations) hash.update(`${service.name} ${name} ${sql}`)
  }
  const template = `backoffice_template_${hash.digest('hex').slice(0, 16)}`
  const key = `${administratorUrl} ${template}`
  const made = templates.get(key) ?? makeTemplate(template, services, administratorUrl)
  templates.set(key, made)
  await made
  return template
}

const makeTemplate = (template: string, services: readonly MigratedService[], administratorUrl: string) =>
  asAdministrator(administratorUrl, async (client) => {
    await client.query('select pg_advisory_lock($1)', [templateLock])
    const known = await client.query('select from pg_database where datname = $1', [template])
    if (known.rowCount === 0) {
      // Renamed only when it is complete. An unfinished one, left by a killed test run, is thrown away.
      const draft = `${template}_draft`
      await client.query(`drop database if exists ${draft} with (force)`)
      await client.query(`create database ${draft}`)
      const url = databaseUrl(administratorUrl, draft)
      await provisionDatabase({ adminUrl: url, passwords: withOtherRoles(sharedRolePasswords(administratorUrl)) })
      for (const { name, migrations } of services) await migrate({ service: name, migrations, url })
      await client.query(`alter database ${draft} rename to ${template}`)
    }
    await client.query('select pg_advisory_unlock($1)', [templateLock])
  })

/** Each session is a process of PostgreSQL, so there is one for all databases that a process makes and drops. */
const administrators = new Map<string, pg.Pool>()

async function asAdministrator<T>(url: string, run: (client: pg.PoolClient) => Promise<T>): Promise<void> {
  const pool = administrators.get(url) ?? new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true })
  if (!administrators.has(url)) {
    administrators.set(url, pool)
    // Its server may end before this process does.
    pool.on('error', () => {})
  }
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    await run(client)
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    // What a failed one holds ends with its session.
    client.release(failure)
  }
}

export type BackendName = 'postgres' | 'nats'

/** PostgreSQL and nats-server of one system. */
export interface Backends {
  /** POSTGRES_URL and NATS_URL, for `npm start`; it starts by itself what is left out. */
  readonly environment: Readonly<Record<string, string>>
  /** Kills one, which loses its disk if it is nats-server, and resolves when it runs again. Null: it is the stack's own. */
  readonly crash: ((name: BackendName) => Promise<void>) | null
  readonly stop: () => Promise<void>
}

const stacksOwn: Backends = { environment: {}, crash: null, stop: async () => {} }
const connectionsMax = 200

/**
 * Backends of the system whose folder is `dir`. Containers have the passwords of its secrets, so that whoever knows the
 * folder can log in.
 * @param own whether it shares nothing with others, because they crash
 * @param databases 1: it is migrated already, as all tests' are, and the stack finds nothing to do
 */
export async function startBackends(
  dir: string,
  { own, databases, environment }: { own: boolean; databases: number; environment: NodeJS.ProcessEnv },
): Promise<Backends> {
  const shared = own ? undefined : environment.POSTGRES_URL
  const databaseOn = (url: string) =>
    backendsOn(databases === 1 ? createDatabase(services, url) : createEmptyDatabase(url))
  if (!areContainersWanted(environment)) return shared === undefined ? stacksOwn : databaseOn(shared)
  const { nats: passwords } = stackSecrets(dir)
  if (shared === undefined) return startContainers(passwords)
  const [database, nats] = await Promise.all([databaseOn(shared), startNatsContainer(passwords)])
  return {
    environment: { ...database.environment, NATS_URL: nats.url },
    crash: null,
    stop: async () => void (await Promise.all([database.stop(), nats.stop()])),
  }
}

async function backendsOn(created: Promise<TestDatabase>): Promise<Backends> {
  const { url, drop } = await created
  return { environment: { POSTGRES_URL: url }, crash: null, stop: drop }
}

/** They keep their addresses when they crash. */
async function startContainers(passwords: StackSecrets['nats']): Promise<Backends> {
  const natsPort = await freePort()
  const [postgres, first] = await Promise.all([
    startPostgresContainer(connectionsMax, await freePort()),
    startNatsContainer(passwords, natsPort),
  ])
  let nats = first
  return {
    environment: { POSTGRES_URL: postgres.url, NATS_URL: nats.url },
    async crash(name) {
      if (name === 'postgres') return postgres.crash()
      await nats.stop()
      nats = await startNatsContainer(passwords, natsPort)
    },
    stop: async () => void (await Promise.all([postgres.stop(), nats.stop()])),
  }
}
