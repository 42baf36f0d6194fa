import { type Static, type TObject, Type } from '@sinclair/typebox'

/** The players service's environment variables, besides the common ones. */
export const settings = {
  GAMES_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  /** Of the public listener that serves thumbnails and the demonstration game. 0 takes any free port. */
  GAMES_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 0 }),
  /** Where players' browsers reach that listener. Required outside development. */
  GAMES_BASE_URL: Type.Optional(Type.String({ pattern: '^https?://[^#?]+[^/#?]$' })),
  /** The provider's launch API; without it production answers PROVIDER_UNAVAILABLE. */
  GAME_PROVIDER_URL: Type.Optional(Type.String({ pattern: '^https?://.+' })),
  GAME_PROVIDER_TOKEN: Type.Optional(Type.String({ minLength: 1 })),
  GAME_PROVIDER_TIMEOUT_MS: Type.Integer({ minimum: 1, default: 3_000 }),
  /** How long the circuit stays open before one launch is tried again. */
  GAME_PROVIDER_OPEN_MS: Type.Integer({ minimum: 1, default: 10_000 }),
}
export type PlayersSettings = Static<TObject<typeof settings>>
