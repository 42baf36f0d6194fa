import { storedMebibytesMax, storedRowsMax } from '@backoffice/contracts'
import { sealingSettings } from '@backoffice/database/vault'
import { certificateSettings, proxySettings } from '@backoffice/process'
import { Type } from '@sinclair/typebox'

const stakesPerDayMax = 100_000_000

/** The gateway's environment variables, besides those of every service. */
export const settings = {
  HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  /** 0 takes any free port. */
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8080 }),
  /** Where providers of games call. */
  PROVIDER_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  /** 0 takes any free port. */
  PROVIDER_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8084 }),
  /** For those who come by no proxy, such as the games of our own: nobody's X-Forwarded-For is believed there. None when absent. */
  PROVIDER_DIRECT_PORT: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
  /**
   * Whom this process serves. One for providers alone logs in to the broker as the user `providers`, which may pass on what
   * providers call, and serves no operation of the team.
   */
  SURFACES: Type.String({ pattern: '^(operators|providers|operators,providers)$', default: 'operators,providers' }),
  /** Open connections on each listener; more are closed at once. Each may hold a body of 64 KiB that nobody has signed yet. */
  CONNECTIONS_MAX: Type.Integer({ minimum: 1, default: 5_000 }),
  ...certificateSettings,
  /** The address that operators call, with the /api/v1 prefix; shown in the public documents. */
  PUBLIC_BASE_URL: Type.Optional(Type.String({ pattern: '^https?://.+/api/v1$' })),
  /** The address that providers of games call, with the /provider/v1 prefix; shown in their documents. */
  PROVIDER_BASE_URL: Type.Optional(Type.String({ pattern: '^https?://.+/provider/v1$' })),
  ...proxySettings,
  /** The master keys seal the operators' secrets too, so they are required outside development in any case. */
  ...sealingSettings,
  /**
   * Failed authentications per minute and caller's address. Beyond that, requests from the address are refused with
   * RATE_LIMITED.
   */
  FAILED_AUTHENTICATIONS_PER_MINUTE: Type.Integer({ minimum: 1, default: 600 }),
  /**
   * What an operator's calls of a day (UTC) may store in the sandbox, also where the team has set more. Calls that end a
   * record may pass it by an eighth: 896 MiB keep a key below one GiB.
   */
  SANDBOX_STORED_MIB_PER_DAY: Type.Integer({ minimum: 1, maximum: storedMebibytesMax, default: 896 }),
  SANDBOX_STORED_ROWS_PER_DAY: Type.Integer({ minimum: 1, maximum: storedRowsMax, default: 2_000_000 }),
  /** How many bets and spins a brand may send in a day (UTC), each counted as if it were the heaviest. */
  PLAY_STAKES_PER_DAY: Type.Integer({ minimum: 1, maximum: stakesPerDayMax, default: 2_000_000 }),
  SANDBOX_PLAY_STAKES_PER_DAY: Type.Integer({ minimum: 1, maximum: stakesPerDayMax, default: 200_000 }),
  /**
   * How long an expired claim is kept whose outcome is unknown. The reply of its operation must be kept for longer than this
   * and the day that a key lives.
   */
  UNRESOLVED_CLAIMS_KEEP_HOURS: Type.Integer({ minimum: 1, maximum: 8_760, default: 24 }),
  /** How long the first request with an Idempotency-Key may run; longer than any operation's deadline. */
  CLAIM_LEASE_MS: Type.Integer({ minimum: 100, default: 30_000 }),
}
