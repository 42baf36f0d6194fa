// Rules.

import type { Environment, StoredAmount } from '@backoffice/contracts'

/** What quotas follow from where nothing else is agreed. */
export interface DefaultQuotas {
  /** What a day of the sandbox may store. */
  readonly sandbox: StoredAmount
  /** What one request stores at most: in production, whoever keeps the rate limit all day passes no quota. */
  readonly request: StoredAmount
}

/** What the team has set for an operator; null: the default. */
export interface AgreedLimits {
  readonly rateLimitPerMinute: number
  readonly storedMebibytesPerDay: number | null
  readonly storedRowsPerDay: number | null
}

/** What was stored on a day. */
export interface DayUse extends StoredAmount {
  /** YYYY-MM-DD, in UTC. */
  readonly day: string
}

export const mebibyte = 1024 * 1024

/** Minutes of the rate limit that a day has a part in: one may have begun before it. */
const minutesMax = 24 * 60 + 1

/** The sandbox has bounds of its own, which no agreement raises. */
export function quotasOf(agreed: AgreedLimits, environment: Environment, defaults: DefaultQuotas): StoredAmount {
  const { rateLimitPerMinute, storedMebibytesPerDay, storedRowsPerDay } = agreed
  const { sandbox, request } = defaults
  const requests = rateLimitPerMinute * minutesMax
  const ofRate = { bytes: requests * request.bytes, rows: requests * request.rows }
  const usual = environment === 'production' ? ofRate : sandbox
  const bytes = storedMebibytesPerDay === null ? usual.bytes : storedMebibytesPerDay * mebibyte
  const rows = storedRowsPerDay ?? usual.rows
  if (environment === 'production') return { bytes, rows }
  return { bytes: Math.min(bytes, usual.bytes), rows: Math.min(rows, usual.rows) }
}
