import { type Clock, loadConfig, type RunningService, runService, startService } from '@backoffice/service-runtime'
import { type PlayersConfig, playersConfig } from './config.ts'
import { type GamesListener, listenForGames } from './games/listen.ts'
import { handlers } from './operations/index.ts'
import { GameProvider } from './provider/game-provider.ts'
import { entities } from './storage/entities.ts'

export { playersConfig } from './config.ts'

const dayMs = 24 * 3_600_000

export interface RunningPlayers extends RunningService {
  /** Of the public listener of the games. */
  readonly gamesUrl: string
}

/** Starts the players service: its operations, and the public listener of the games. */
export async function start(config: PlayersConfig, options: { readonly clock?: Clock } = {}): Promise<RunningPlayers> {
  if (config.GAMES_BASE_URL === undefined && !config.DEVELOPMENT)
    throw new Error('GAMES_BASE_URL is required outside development')
  let games: GamesListener | undefined
  const gamesUrl = () => games?.url ?? ''
  const service = await startService({
    name: 'players',
    config,
    entities,
    clock: options.clock,
    operations: ({ log }) => handlers({ gamesUrl, provider: providerFrom(config, log) }),
    // A session is over when it expires; it is kept for a while for whoever asks what was played.
    retentions: [{ table: 'game_session', column: 'expires_at', keepMs: 90 * dayMs }],
    background: async (shared) => {
      games = await listenForGames(config, shared)
      return [games]
    },
  })
  return { ...service, gamesUrl: gamesUrl() }
}

function providerFrom(config: PlayersConfig, log: RunningService['log']): GameProvider {
  return new GameProvider({
    url: config.GAME_PROVIDER_URL,
    token: config.GAME_PROVIDER_TOKEN,
    timeoutMs: config.GAME_PROVIDER_TIMEOUT_MS,
    openMs: config.GAME_PROVIDER_OPEN_MS,
    log,
  })
}

if (import.meta.main) await runService(() => start(loadConfig(playersConfig, process.env)))
