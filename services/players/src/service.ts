import { sealingSettings } from '@backoffice/database/vault'
import { ConfigurationError, dayMs, patiently, secret } from '@backoffice/process'
import { defineService, sql } from '@backoffice/service-runtime'
import { teamPlugin } from '@backoffice/team-access'
import { Type } from '@sinclair/typebox'
import { GameProvider, providerMeasurement } from './games/game-provider.ts'
import { approvalSweeper } from './kyc/change-kyc.ts'
import { sealedSources } from './kyc/records.ts'
import { handlers } from './operations.ts'
import { stakeReads } from './play/operations.ts'
import { sealedPlayers } from './players/records.ts'
import { statusSweeper } from './players/tell-status.ts'
import { migrations } from './storage/migrations/index.ts'

/** Where `npm start` and tests reach the public games, unless they say otherwise. */
const gamesUrlInDevelopment = 'http://127.0.0.1:8082'

/** Players, their identity checks and limits, the catalogue of games, and the opening of a game. */
export const players = defineService({
  name: 'players',
  settings: {
    ...sealingSettings,
    /** Where players' browsers reach the public games (services/games). Required outside development. */
    GAMES_BASE_URL: Type.Optional(Type.String({ pattern: '^https?://[^#?]+[^/#?]$' })),
    /** The provider's launch API. Without it production refuses launches with PROVIDER_UNAVAILABLE. */
    GAME_PROVIDER_URL: Type.Optional(Type.String({ pattern: '^https?://.+' })),
    GAME_PROVIDER_TOKEN: Type.Optional(secret()),
    GAME_PROVIDER_TIMEOUT_MS: Type.Integer({ minimum: 1, default: 3_000 }),
    /** How long the circuit stays open before one launch is tried again. */
    GAME_PROVIDER_OPEN_MS: Type.Integer({ minimum: 1, default: 10_000 }),
    /** How long the law asks to keep a player's records in production, from the last change on (docs/privacy.md). */
    PLAYER_RECORDS_KEEP_YEARS: Type.Integer({ minimum: 0, maximum: 100, default: 5 }),
    /** How long an approved identity check holds, for approvals from now on. Without it they hold until the next decision. */
    KYC_TERM_DAYS: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
    KYC_SWEEP_EVERY_MS: Type.Integer({ minimum: 10, default: 10_000 }),
    STATUS_SWEEP_EVERY_MS: Type.Integer({ minimum: 10, default: 10_000 }),
  },
  assertSettings({ GAMES_BASE_URL, DEVELOPMENT }) {
    if (GAMES_BASE_URL === undefined && !DEVELOPMENT)
      throw new ConfigurationError('GAMES_BASE_URL is required outside development')
  },
  plugins: [teamPlugin({ sealedTables: [sealedPlayers, sealedSources] })],
  migrations,
  retentions: [
    // A session is over when it expires. It is kept for a while in case somebody asks what was played.
    { table: 'game_session', column: 'expires_at', keepMs: 90 * dayMs, ofSandbox: sql`mode = 'demo'` },
    // A case counts as taken for minutes only. Who took it is in the audit trail.
    { table: 'taken_case', column: 'taken_at', keepMs: dayMs },
  ],
  compose(context, settings) {
    const gamesUrl = settings.GAMES_BASE_URL ?? gamesUrlInDevelopment
    const provider = new GameProvider({
      url: settings.GAME_PROVIDER_URL,
      token: settings.GAME_PROVIDER_TOKEN,
      timeoutMs: patiently(settings.GAME_PROVIDER_TIMEOUT_MS),
      openMs: settings.GAME_PROVIDER_OPEN_MS,
      allowHttp: settings.DEVELOPMENT,
      log: context.log,
    })
    const { KYC_TERM_DAYS: termDays, PLAYER_RECORDS_KEEP_YEARS: keepYears, DEVELOPMENT: development } = settings
    const kycTermMs = termDays === undefined ? null : termDays * dayMs
    return {
      operations: handlers({ gamesUrl, provider, keepYears, kycTermMs, development, stakes: stakeReads(context) }),
      background: [
        approvalSweeper(context, settings.KYC_SWEEP_EVERY_MS),
        statusSweeper(context, settings.STATUS_SWEEP_EVERY_MS),
      ],
      measurements: [providerMeasurement(provider)],
    }
  },
})
