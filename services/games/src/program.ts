import { connectPool } from '@backoffice/database'
import {
  type Clock,
  createLogger,
  HttpListener,
  Loop,
  type RunningProcess,
  type StartedProgram,
  startProgram,
  systemClock,
  trustedProxies,
} from '@backoffice/process'
import { createApp } from './http/app.ts'
import type { GamesSettings } from './settings.ts'
import { Thumbnails } from './thumbnails.ts'

export { settings } from './settings.ts'

/** How often the catalogue is read again, for games that a migration has added. */
const catalogueEveryMs = 60_000
/** How long each step of stopping may take. */
const stoppingMsMax = 5_000

export interface RunningGames extends RunningProcess, StartedProgram {
  readonly port: number
}

/** Starts the public server of thumbnails and of the demonstration game. */
export async function startGames(config: GamesSettings, clock: Clock = systemClock): Promise<RunningGames> {
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
  const { GAMES_HOST: host, GAMES_PORT: port, GAMES_CONNECTIONS_MAX: connectionsMax } = config
  const listener = new HttpListener({ app, host, port, connectionsMax, log })
  catalogue.start()
  await listener.start()
  const program = await startProgram({
    log,
    settings: config,
    // While PostgreSQL is away it still serves pages and thumbnails, and refuses the rest with 503.
    async ready() {
      if (!thumbnails.areDrawn) catalogue.nudge()
      return thumbnails.areDrawn
    },
    leave: () => listener.leave(),
    stopping: [
      { what: 'requests', msMax: stoppingMsMax, stop: () => Promise.all([listener.stop(), catalogue.stop()]) },
      { what: 'database connections', msMax: stoppingMsMax, stop: () => db.close() },
    ],
  })
  return { ...program, log, port: listener.port }
}

const limitsOf = (config: GamesSettings) => ({
  requestsPerMinute: config.GAMES_REQUESTS_PER_MINUTE,
  connectionsPerAddress: config.GAMES_CONNECTIONS_PER_ADDRESS,
  trustedProxies: trustedProxies(config.TRUSTED_PROXIES),
})
