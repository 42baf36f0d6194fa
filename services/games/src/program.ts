import type { AddressInfo } from 'node:net'
import {
  type Clock,
  createLogger,
  flushTelemetry,
  Loop,
  type RunningProcess,
  startHealthServer,
  systemClock,
  waitAtMost,
} from '@backoffice/process'
import { connectPool } from '@backoffice/service-runtime/pool'
import { createApp } from './http/app.ts'
import { trustedProxies } from './http/trusted-proxies.ts'
import type { Settings } from './settings.ts'
import { Thumbnails } from './thumbnails.ts'

export { settings } from './settings.ts'

/** How often the catalogue is read again, for games that a migration has added. */
const catalogueEveryMs = 60_000
/** How long each step of stopping may take. */
const stoppingMsMax = 5_000

export interface RunningGames extends RunningProcess {
  readonly port: number
  readonly healthPort: number
}

/** Starts the public server of thumbnails and of the demonstration game. */
export async function startGames(config: Settings, clock: Clock = systemClock): Promise<RunningGames> {
  const log = createLogger('games', config.LOG_LEVEL)
  const db = connectPool(config, 'games')
  const thumbnails = new Thumbnails(db)
  const catalogue = new Loop({
    name: 'reading the catalogue',
    run: () => thumbnails.load(),
    everyMs: catalogueEveryMs,
    log,
  })
  const app = await createApp({ db, clock, log, thumbnails }, limitsOf(config))
  catalogue.start()
  await app.listen({ host: config.GAMES_HOST, port: config.GAMES_PORT })

  let draining: Promise<void> | undefined
  const health = await startHealthServer({
    host: config.HEALTH_HOST,
    port: config.HEALTH_PORT,
    // While PostgreSQL is away it still serves pages and thumbnails, and refuses the rest with 503.
    async ready() {
      if (!thumbnails.areDrawn) catalogue.nudge()
      return draining === undefined && thumbnails.areDrawn
    },
  })
  const { port } = app.server.address() as AddressInfo
  log.info({ port, healthPort: health.port }, 'started')

  async function stop(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, config.DRAIN_DELAY_MS))
    const late = (what: string) => () => log.warn({ what }, 'stopped without waiting any longer')
    await waitAtMost(stoppingMsMax, Promise.all([app.close(), catalogue.stop()]), late('requests'))
    await flushTelemetry()
    await waitAtMost(stoppingMsMax, db.close(), late('database connections'))
    await health.close()
    log.info('drained')
  }
  return {
    log,
    port,
    healthPort: health.port,
    drain() {
      draining ??= stop()
      return draining
    },
  }
}

const limitsOf = (config: Settings) => ({
  requestsPerMinute: config.GAMES_REQUESTS_PER_MINUTE,
  connectionsPerAddress: config.GAMES_CONNECTIONS_PER_ADDRESS,
  connectionsMax: config.GAMES_CONNECTIONS_MAX,
  trustedProxies: trustedProxies(config.TRUSTED_PROXIES),
})
