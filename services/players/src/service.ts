import { ConfigurationError, dayMs, defineService } from '@backoffice/service-runtime'
import { GamesListener } from './games/listener.ts'
import { providerMeasurement } from './measurements.ts'
import { handlers } from './operations/index.ts'
import { GameProvider } from './provider/game-provider.ts'
import { settings } from './settings.ts'
import { entities } from './storage/entities.ts'
import { migrations } from './storage/migrations/index.ts'

/** Players, their identity checks and limits, and the games: their operations, and the games' public listener. */
export const players = defineService({
  name: 'players',
  settings,
  assertSettings({ GAMES_BASE_URL, DEVELOPMENT }) {
    if (GAMES_BASE_URL === undefined && !DEVELOPMENT)
      throw new ConfigurationError('GAMES_BASE_URL is required outside development')
  },
  entities,
  migrations,
  // A session is over when it expires; it is kept for a while for whoever asks what was played.
  retentions: [{ table: 'game_session', column: 'expires_at', keepMs: 90 * dayMs }],
  compose(context, settings) {
    const listener = new GamesListener(settings, context)
    const gamesUrl = () => listener.url
    const provider = new GameProvider(settings, context.log)
    return {
      operations: handlers({ gamesUrl, provider }),
      background: [listener],
      measurements: [providerMeasurement(provider)],
      addresses: () => ({ gamesUrl: gamesUrl() }),
    }
  },
})
