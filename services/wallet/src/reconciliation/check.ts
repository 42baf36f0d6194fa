import type { Difference, InFlight } from '@backoffice/contracts'
import type { ClientBase } from 'pg'

/** The snapshot that all checks of one run look at, and the moment it stands for. */
export interface Snapshot {
  readonly client: ClientBase
  readonly at: Date
}

export interface CheckResult {
  /** How many records were looked at. */
  readonly compared: number
  readonly differences: readonly Omit<Difference, 'check'>[]
  readonly differencesTotal: number
  readonly inFlight?: readonly InFlight[]
  readonly inFlightTotal?: number
}

export interface Check {
  readonly name: string
  readonly run: (snapshot: Snapshot, progress: (done: number, total: number) => void) => Promise<CheckResult>
}

/** Each check and each report names at most so many; the rest is counted. */
export const listedMax = 1_000
/** How long an effect may be on its way before that is a difference. */
export const inFlightSecondsMax = 300

interface DifferenceRow extends Omit<Difference, 'check'> {
  readonly total: string
}

/**
 * A check that PostgreSQL does by itself.
 * @param compared a query that answers one number
 * @param differences a query with the columns brand_id, subject, expected, actual, explanation
 */
export function sqlCheck(name: string, { compared, differences }: { compared: string; differences: string }): Check {
  return {
    name,
    async run({ client }) {
      const { rows: counted } = await client.query<{ compared: string }>(`select (${compared})::text as compared`)
      const { rows } = await client.query<DifferenceRow>(`
        select d.brand_id as "brandId", d.subject, d.expected, d.actual, d.explanation, count(*) over () as total
        from (${differences}) d order by d.subject limit ${listedMax}
      `)
      return {
        compared: Number(counted[0]?.compared ?? 0),
        differences: rows.map(({ brandId, subject, expected, actual, explanation }) => ({
          brandId,
          subject,
          expected: expected ?? 'nothing',
          actual: actual ?? 'nothing',
          explanation,
        })),
        differencesTotal: Number(rows[0]?.total ?? 0),
      }
    },
  }
}
