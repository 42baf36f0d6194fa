import { ConfigurationError, dayMs, defineService, sql } from '@backoffice/service-runtime'
import { Type } from '@sinclair/typebox'
import { GamesListener } from './games/listener.ts'
import { providerMeasurement } from './measurements.ts'
import { handlers } from './operations/index.ts'
import { GameProvider } from './provider/game-provider.ts'
import { migrations } from './storage/migrations/index.ts'

/** Players, their identity checks and limits, and the games: their operations, and the games' public listener. */
export const players = defineService({
  name: 'players',
  settings: {
    GAMES_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
    /** Of the public listener that serves thumbnails and the demonstration game. 0 takes any free port. */
    GAMES_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 0 }),
    /** Where players' browsers reach that listener. Required outside development. */
    GAMES_BASE_URL: Type.Optional(Type.String({ pattern: '^https?://[^#?]+[^/#?]$' })),
    /** The provider's launch API. Without it production refuses launches with PROVIDER_UNAVAILABLE. */
    GAME_PROVIDER_URL: Type.Optional(Type.String({ pattern: '^https?://.+' })),
    GAME_PROVIDER_TOKEN: Type.Optional(Type.String({ minLength: 1 })),
    GAME_PROVIDER_TIMEOUT_MS: Type.Integer({ minimum: 1, default: 3_000 }),
    /** How long the circuit stays open before one launch is tried again. */
    GAME_PROVIDER_OPEN_MS: Type.Integer({ minimum: 1, default: 10_000 }),
    /** How long the law asks to keep a player's records in production, from the last change on (docs/privacy.md). */
    PLAYER_RECORDS_KEEP_YEARS: Type.Integer({ minimum: 0, maximum: 100, default: 5 }),
  },
  assertSettings({ GAMES_BASE_URL, DEVELOPMENT }) {
    if (GAMES_BASE_URL === undefined && !DEVELOPMENT)
      throw new ConfigurationError('GAMES_BASE_URL is required outside development')
  },
  entities: async () => (await import('./storage/entities.ts')).entities,
  migrations,
  // A session is over when it expires. It is kept for a while in case somebody asks what was played.
  retentions: [{ table: 'game_session', column: 'expires_at', keepMs: 90 * dayMs, ofSandbox: sql`mode = 'demo'` }],
  compose(context, settings) {
    const listener = new GamesListener({
      ...context,
      host: settings.GAMES_HOST,
      port: settings.GAMES_PORT,
      baseUrl: settings.GAMES_BASE_URL,
    })
    const gamesUrl = () => listener.url
    const provider = new GameProvider({
      url: settings.GAME_PROVIDER_URL,
      token: settings.GAME_PROVIDER_TOKEN,
      timeoutMs: settings.GAME_PROVIDER_TIMEOUT_MS,
      openMs: settings.GAME_PROVIDER_OPEN_MS,
      allowHttp: settings.DEVELOPMENT,
      log: context.log,
    })
    return {
      operations: handlers({ gamesUrl, provider, keepYears: settings.PLAYER_RECORDS_KEEP_YEARS }),
      background: [listener],
      measurements: [providerMeasurement(provider)],
      addresses: () => ({ gamesUrl: gamesUrl() }),
    }
  },
})
