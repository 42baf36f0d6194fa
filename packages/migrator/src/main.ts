// Before anything is loaded: as process 1 of a container it would otherwise not hear them until it has started. Each
// migration is one transaction, or may be run again: what is cut short did nothing. So is each change of the stream.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

const { createLogger, loadConfig } = await import('@backoffice/process')
const { verifiedUrl } = await import('@backoffice/service-runtime/pool')
const { migratorConfig, passwordsFrom } = await import('./config.ts')
const { prepareDatabase } = await import('./prepare-database.ts')
const { prepareStream } = await import('./prepare-stream.ts')
const { waitForDatabase } = await import('./wait-for-database.ts')

/** What is being prepared. */
let what: 'database' | 'stream' = 'database'

async function main(): Promise<void> {
  const config = loadConfig(migratorConfig, process.env)
  const log = createLogger('migrator', config.LOG_LEVEL)
  const url = verifiedUrl(config.ADMIN_DATABASE_URL, config.DATABASE_CA_FILE)
  await waitForDatabase(url, {
    waitMs: config.DATABASE_WAIT_MS,
    onWait: (err) => log.warn({ err }, 'waiting for PostgreSQL'),
  })
  for (const { service, applied } of await prepareDatabase(url, passwordsFrom(config), log)) {
    log.info({ service, applied }, applied.length === 0 ? 'up to date' : 'migrated')
  }
  log.info('the database is ready')
  what = 'stream'
  await prepareStream(config, log)
  log.info('the stream is ready')
}

try {
  await main()
} catch (err) {
  createLogger('migrator', 'info').fatal({ err }, `the ${what} is not ready`)
  process.exitCode = 1
}
