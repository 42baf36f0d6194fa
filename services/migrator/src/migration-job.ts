import { createLogger, loadConfig, patiently, retry } from '@backoffice/process'
import { assertDurable, isPassingFault } from '@backoffice/service-runtime'
import pg from 'pg'
import { homesFrom, migratorConfig, passwordsFrom } from './config.ts'
import { prepareDatabases } from './prepare-database.ts'
import { prepareStream } from './prepare-stream.ts'
import { connectOnce } from './provision.ts'

const pauseMs = 500
const connectionTimeoutMs = 5_000

/**
 * Prepares the database and then the stream.
 * @param destination of the log, in place of standard output
 * @returns the exit status; why it is not 0 is in the log
 */
export async function runMigrationJob(
  environment: NodeJS.ProcessEnv,
  destination?: Parameters<typeof createLogger>[2],
): Promise<0 | 1> {
  let what: 'database' | 'stream' = 'database'
  try {
    const config = loadConfig(migratorConfig, environment)
    const log = createLogger('migrator', config.LOG_LEVEL, destination)
    const homes = homesFrom(config)
    for (const { url } of homes)
      await waitForDatabase(url, {
        waitMs: config.DATABASE_WAIT_MS,
        onWait: (err) => log.warn({ err }, 'waiting for PostgreSQL to answer'),
      })
    // The roles' sessions have a synchronous_commit of their own.
    const ofServer = "select name, setting from pg_settings where name <> 'synchronous_commit'"
    for (const { url } of config.DEVELOPMENT ? [] : homes)
      assertDurable(
        (await connectOnce(url, (client) => client.query<{ name: string; setting: string }>(ofServer))).rows,
      )
    const options = { log, caFile: config.DATABASE_LINK_CA_FILE }
    for (const { service, applied } of await prepareDatabases(homes, passwordsFrom(config), options)) {
      log.info(
        { service, applied },
        `the schema of ${service} ${applied.length === 0 ? 'was up to date' : 'was migrated'}`,
      )
    }
    log.info('the database is ready')
    what = 'stream'
    await prepareStream(config, log)
    log.info('the stream is ready')
    return 0
  } catch (err) {
    createLogger('migrator', 'info', destination).fatal({ err }, `the ${what} is not ready`)
    return 1
  }
}

/**
 * Waits until PostgreSQL lets this login in.
 * @param onWait told once, when the first attempt found no server
 * @throws what the server said, or the last reason when `waitMs` have passed
 */
async function waitForDatabase(
  url: string,
  { waitMs, onWait }: { readonly waitMs: number; readonly onWait: (reason: unknown) => void },
): Promise<void> {
  await retry(() => connectAndLeave(url), {
    pauseMs,
    untilMs: performance.now() + waitMs,
    while(error, attempt) {
      if (!isPassingFault(error)) return false
      if (attempt === 1) onWait(error)
      return true
    },
  })
}

async function connectAndLeave(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: patiently(connectionTimeoutMs) })
  // A server that goes away between two lines says so here too.
  client.on('error', () => {})
  try {
    await client.connect()
  } finally {
    await client.end().catch(() => {})
  }
}
