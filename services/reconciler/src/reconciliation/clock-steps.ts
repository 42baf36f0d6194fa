import type { ServiceName } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'

/**
 * The services whose records stand in another database than the ledger, each with the schema in which this one shows the
 * moments of that other: `linkDatabases` of the migrator makes it.
 */
export type OtherDatabases = ReadonlyMap<ServiceName, string>

export async function readOtherDatabases(db: ReadDb): Promise<OtherDatabases> {
  const rows = await db<{ service: ServiceName; moments: string }>`
    select distinct c.relnamespace::regnamespace::text as service, s.srvname::text as moments
    from pg_foreign_table f join pg_foreign_server s on s.oid = f.ftserver join pg_class c on c.oid = f.ftrelid
  `
  return new Map(rows.map(({ service, moments }) => [service, moments]))
}

const own = 'reconciler'
const momentsIn = (schema: string) => sql`${sql.identifier(schema)}.moment`

/** Where the moments of the database stand in which a service lives. */
export const momentsOf = (service: ServiceName, otherDatabases: OtherDatabases) =>
  momentsIn(otherDatabases.get(service) ?? own)

/** That the clock of a PostgreSQL went back. */
export interface ClockStep {
  /** The later moment, and how far an earlier one had come. */
  readonly at: Date
  readonly latest: Date
  /**
   * From this transaction on, and before that one, moments contradict each other: what was written there is of no certain
   * time. Null: the clock is still behind.
   */
  readonly from: bigint
  readonly until: bigint | null
  /** No run that has ended knew of it. */
  readonly isNew: boolean
}

/** By the schemas in which moments stand. */
export type ClockSteps = ReadonlyMap<string, readonly ClockStep[]>

/** Runs that begin at once may have their transactions in the other order. */
const stepSecondsMin = 60

/** @param lastRunId the last run that ended; undefined when there is none */
export async function readClockSteps(
  db: ReadDb,
  otherDatabases: OtherDatabases,
  lastRunId: string | undefined,
): Promise<ClockSteps> {
  const steps = new Map<string, ClockStep[]>()
  for (const schema of new Set([own, ...otherDatabases.values()])) {
    const moments = momentsIn(schema)
    const rows = await db<Pick<ClockStep, 'at' | 'latest' | 'isNew'> & { from: string; until: string | null }>`
      select m.at, m.latest, coalesce((
          select f.xid from ${moments} f where f.xid < m.xid and f.at <= m.at order by f.xid desc limit 1
        )::text, '0') as from, (
          select u.xid from ${moments} u where u.xid > m.xid and u.at >= m.latest order by u.xid limit 1
        )::text as until, m.xid > coalesce((
          select r.xid from ${moments} r where r.run_id = ${lastRunId ?? null} order by r.xid desc limit 1
        ), '0'::xid8) as is_new
      from (
        select xid, at, max(at) over (order by xid rows between unbounded preceding and 1 preceding) as latest
        from ${moments}
      ) m
      where m.latest > m.at + make_interval(secs => ${stepSecondsMin}::int) order by m.xid
    `
    const found = rows.map((row) => ({
      ...row,
      ...{ from: BigInt(row.from), until: row.until === null ? null : BigInt(row.until) },
    }))
    // Until the clock has caught up, each moment says so again.
    const each = [...Map.groupBy(found, ({ until }) => until).values()]
    steps.set(
      schema,
      each.map(([first, ...others]) => {
        const step = first as ClockStep
        return { ...step, from: others.reduce((from, one) => (one.from < from ? one.from : from), step.from) }
      }),
    )
  }
  return steps
}

/** Whether PostgreSQL's clock went on where a transaction of a service wrote. */
export function isTimeCertain(
  { otherDatabases, clockSteps }: { readonly otherDatabases: OtherDatabases; readonly clockSteps: ClockSteps },
  service: ServiceName,
  xid: bigint,
): boolean {
  const steps = clockSteps.get(otherDatabases.get(service) ?? own) ?? []
  return !steps.some(({ from, until }) => from <= xid && (until === null || xid < until))
}
