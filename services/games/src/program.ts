import { connectPool, databaseSettings } from '@backoffice/database'
import {
  type Clock,
  createLogger,
  HttpListener,
  Loop,
  programSettings,
  proxySettings,
  type RunningProcess,
  type StartedProgram,
  startProgram,
  systemClock,
  trustedProxies,
} from '@backoffice/process'
import { type Static, Type } from '@sinclair/typebox'
import { createApp } from './http/app.ts'
import { Thumbnails } from './thumbnails.ts'
import { credentialsOf, providerSettings, WalletProvider } from './wallet-provider.ts'

const { DATABASE_URL, DATABASE_PASSWORD, DATABASE_CA_FILE } = databaseSettings

/** The environment variables of the public games. */
export const settings = Type.Object({
  /** Of the role `backoffice_games`. */
  DATABASE_URL,
  DATABASE_PASSWORD,
  DATABASE_CA_FILE,
  /** Few: each request is one short statement, and what does not get a connection in time is refused. */
  DATABASE_POOL_MAX: Type.Integer({ minimum: 1, maximum: 200, default: 4 }),
  GAMES_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  /** 0 takes any free port. */
  GAMES_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8082 }),
  ...proxySettings,
  /** Requests a minute of one address (IPv6: of one /64). What comes beyond that is refused with 429. */
  GAMES_REQUESTS_PER_MINUTE: Type.Integer({ minimum: 1, default: 600 }),
  /** Open connections of one address. Those of a trusted proxy are many people's, and are not counted. */
  GAMES_CONNECTIONS_PER_ADDRESS: Type.Integer({ minimum: 1, default: 50 }),
  /** Open connections in all; more are closed at once. */
  GAMES_CONNECTIONS_MAX: Type.Integer({ minimum: 1, default: 2_000 }),
  ...providerSettings,
  ...programSettings,
})
type GamesSettings = Static<typeof settings>

/** How often the catalogue is read again, for games that a migration has added. */
const catalogueEveryMs = 60_000
/** How long each step of stopping may take. */
const stoppingMsMax = 5_000

export interface RunningGames extends RunningProcess, StartedProgram {
  readonly port: number
}

/**
 * Starts the public server of thumbnails and of the sandbox's games.
 * @throws {ConfigurationError} when some of the settings of a provider are missing
 */
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
  const credentials = credentialsOf(config)
  const provider = credentials && new WalletProvider(credentials, { clock, log })
  const app = await createApp({ db, clock, log, thumbnails, provider }, limitsOf(config))
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
