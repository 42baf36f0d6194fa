import type { Difference, InFlight } from '@backoffice/contracts'
import type { Fragment, ReadDb } from '@backoffice/service-runtime'

/** The snapshot that all checks of one run look at, and the moment it stands for. */
export interface Snapshot {
  readonly db: ReadDb
  readonly at: Date
}

export interface CheckResult {
  /** How many records were looked at. */
  readonly compared: number
  readonly differences: readonly Omit<Difference, 'check'>[]
  readonly differencesTotal: number
  /** How many there are of each brand, where not all are listed. */
  readonly ofBrands?: ReadonlyMap<string | null, number>
  readonly inFlight?: readonly InFlight[]
  readonly inFlightTotal?: number
}

export interface Check {
  readonly name: string
  readonly run: (snapshot: Snapshot, progress: (done: number, total: number) => void) => Promise<CheckResult>
}

/** Each check and each report lists at most this many differences and counts the rest. */
export const listedMax = 1_000
/** How long an effect may be in flight before it is a difference. */
export const inFlightSecondsMax = 300

type DifferenceRow = Omit<Difference, 'check' | 'expected' | 'actual'> & {
  readonly expected: string | null
  readonly actual: string | null
  readonly total: bigint
}

/**
 * A check that PostgreSQL does by itself.
 * @param compared a query that returns one number
 * @param differences a query with the columns brand_id, subject, expected, actual, explanation
 */
export function sqlCheck(
  name: string,
  { compared, differences }: { compared: Fragment; differences: Fragment },
): Check {
  return {
    name,
    async run({ db }) {
      const [counted] = await db<{ compared: bigint }>`select (${compared}) as compared`
      const rows = await db<DifferenceRow>`
        select d.brand_id, d.subject, d.expected, d.actual, d.explanation, count(*) over () as total
        from (${differences}) d order by d.subject limit ${listedMax}
      `
      const total = Number(rows[0]?.total ?? 0)
      return {
        ...(total > rows.length ? { ofBrands: await countByBrand(db, differences) } : {}),
        compared: Number(counted?.compared ?? 0),
        differences: rows.map(({ total, expected, actual, ...where }) => ({
          ...where,
          expected: expected ?? 'nothing',
          actual: actual ?? 'nothing',
        })),
        differencesTotal: total,
      }
    },
  }
}

/** @param differences a query with the column brand_id */
export async function countByBrand(db: ReadDb, differences: Fragment): Promise<ReadonlyMap<string | null, number>> {
  const rows = await db<{ brandId: string | null; count: bigint }>`
    select brand_id, count(*) as count from (${differences}) d group by brand_id
  `
  return new Map(rows.map(({ brandId, count }) => [brandId, Number(count)]))
}
