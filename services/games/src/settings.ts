import { databaseSettings } from '@backoffice/database'
import { programSettings, proxySettings } from '@backoffice/process'
import { type Static, Type } from '@sinclair/typebox'

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
  ...programSettings,
})
export type GamesSettings = Static<typeof settings>
