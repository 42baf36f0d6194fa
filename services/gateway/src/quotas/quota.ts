// Rules.

import type { Environment, StoredAmount } from '@backoffice/contracts'

/** What a day may store, by environment, where nothing else is agreed. */
export type DefaultQuotas = Readonly<Record<Environment, StoredAmount>>

/** What the team has set for an operator; null: the default. */
export interface AgreedQuotas {
  readonly storedMebibytesPerDay: number | null
  readonly storedRowsPerDay: number | null
}

/** What was stored on a day. */
export interface DayUse extends StoredAmount {
  /** YYYY-MM-DD, in UTC. */
  readonly day: string
}

export const mebibyte = 1024 * 1024

/** The sandbox has bounds of its own, which no agreement raises. */
export function quotasOf(agreed: AgreedQuotas, environment: Environment, defaults: DefaultQuotas): StoredAmount {
  const usual = defaults[environment]
  const { storedMebibytesPerDay, storedRowsPerDay } = agreed
  const bytes = storedMebibytesPerDay === null ? usual.bytes : storedMebibytesPerDay * mebibyte
  const rows = storedRowsPerDay ?? usual.rows
  if (environment === 'production') return { bytes, rows }
  return { bytes: Math.min(bytes, usual.bytes), rows: Math.min(rows, usual.rows) }
}
