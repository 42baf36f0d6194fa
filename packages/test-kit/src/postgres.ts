import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseRoles } from '@backoffice/contracts'
import { databaseUrl, sharedRolePasswords, startThrowAwayPostgres, withOtherRoles } from '@backoffice/dev-stack'
import { migrations } from '@backoffice/gateway/migrations'
import { migrate, provisionDatabase, settingsOf } from '@backoffice/migrator/schema'
import type { Service } from '@backoffice/service-runtime/testing'
import pg from 'pg'
import { areContainersWanted, startPostgresContainer } from './containers.ts'

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
 * A database of its own, provisioned and migrated for `services`: a copy of a template that is made once per server and
 * set of migrations.
 */
export async function createDatabase(
  services: readonly MigratedService[],
  administratorUrl: string,
): Promise<TestDatabase> {
  const hasGateway = services.some(({ name }) => name === 'gateway')
  return createFrom(
    administratorUrl,
    await ensureTemplate(administratorUrl, hasGateway ? services : [gateway, ...services]),
  )
}

/** Every service looks into its schema for sessions of the team that were ended. */
const gateway: MigratedService = { name: 'gateway', migrations }

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
