import { brandDefaults, decisionDays, type Environment, operations, Rejection, type Scope } from '@backoffice/contracts'
import type { Vault } from '@backoffice/database/vault'
import type { RpcClient } from '@backoffice/rpc'
import { type Call, type Fragment, fitting, type ReadDb, sql } from '@backoffice/service-runtime'

/** A table with rows about players. */
export interface PlayerTable {
  readonly table: string
  /** SQL that tells the rows of one player apart. */
  readonly key: string
  /** The condition that a row is about a player. */
  readonly isAbout: (playerId: string) => Fragment
  /** Puts what is sealed in a row back into the clear columns, whose names are those of the table. */
  readonly open?: (values: Values, vault: Vault) => Values
}

type Values = Readonly<Record<string, string | null>>

interface PlayerRow {
  readonly key: string
  readonly values: Values
}

const pageMax = 200

/**
 * A page of everything that is stored about a player, table by table.
 * @param after the `nextCursor` of the page before
 */
export async function playerRows(
  db: ReadDb,
  tables: readonly PlayerTable[],
  { playerId, after = ' ' }: { readonly playerId: string; readonly after?: string },
): Promise<{ rows: { table: string; values: PlayerRow['values'] }[]; nextCursor: string | null }> {
  const space = after.indexOf(' ')
  let lastKey = after.slice(space + 1)
  const first = tables.findIndex(({ table }) => table === after.slice(0, space))
  const rows: { table: string; key: string; values: PlayerRow['values'] }[] = []
  for (const { table, key, isAbout, open } of tables.slice(Math.max(first, 0))) {
    const found: PlayerRow[] = await db<PlayerRow>`
      select key, (select json_object_agg(field.key, field.value) from json_each_text(to_json(about)) field) as values
      from (
        select t as about, (${sql.fixed(key)})::text collate "C" as key from ${sql.identifier(table)} t
        where ${isAbout(playerId)}
      ) found
      where key > ${lastKey}
      order by key limit ${pageMax - rows.length}
    `
    for (const { key, values } of found)
      rows.push({ table, key, values: open === undefined ? values : open(values, db.vault) })
    if (rows.length === pageMax) break
    lastKey = ''
  }
  const page = fitting(rows)
  const last = page.at(-1)
  const isAll = page.length === rows.length && rows.length < pageMax
  return {
    rows: page.map(({ table, values }) => ({ table, values })),
    nextCursor: isAll || last === undefined ? null : `${last.table} ${last.key}`,
  }
}

/** A row of a list of the team's, and whom it belongs to. */
interface Owned {
  readonly operatorId: string
}

export interface Asking extends Pick<Call, 'requestId' | 'deadline'> {
  readonly rpc: RpcClient
  /** A call between services acts for a brand: here for that of any of the rows. Undefined where there is no row. */
  readonly scope: Scope | undefined
}

/**
 * Adds the names of their operators to the rows of one page, with one call of the gateway. Without a reply they are null: the
 * list matters more than the names.
 */
export async function withOperatorNames<Row extends Owned>(
  rows: readonly Row[],
  { scope, rpc, ...options }: Asking,
): Promise<(Row & { readonly operatorName: string | null })[]> {
  const names = new Map<string, string>()
  if (scope !== undefined) {
    const operatorIds = [...new Set(rows.map(({ operatorId }) => operatorId))]
    const read = rpc.call(operations.gateway.readOperatorNames, { ...options, scope, input: { operatorIds } })
    const { operators } = await read.catch((error) => {
      if (error instanceof Rejection && error.code === 'SERVICE_UNAVAILABLE') return { operators: [] }
      throw error
    })
    for (const { id, name } of operators) names.set(id, name)
  }
  return rows.map((row) => ({ ...row, operatorName: names.get(row.operatorId) ?? null }))
}

interface DayToTime {
  readonly environment: Environment
  readonly begin: Fragment
  readonly end: Fragment
}

/**
 * Answers how long decisions took, by the day on which they were made.
 * @param decided a query of the `seconds` that each decision of a day took
 */
export function timeByDay(decided: (day: DayToTime) => Fragment) {
  type Asked = { readonly input: { readonly environment: Environment; readonly timeZone?: string } }
  type Tools = { readonly db: ReadDb; readonly now: Date }
  return async ({ input: { environment, timeZone = brandDefaults.timeZone } }: Asked, { db, now }: Tools) => {
    const midnight = (day: Fragment) => sql`${day}::timestamp at time zone ${timeZone}`
    const day = { environment, begin: midnight(sql`d.day`), end: midnight(sql`(d.day + 1)`) }
    const data = await db<{ day: string; decided: number; medianSeconds: number; p90Seconds: number }>`
      select d.day, t.decided, t.median_seconds, t.p90_seconds
      from (
        select (${now}::timestamptz at time zone ${timeZone})::date - n as day from generate_series(0, ${decisionDays}::int - 1) n
      ) d
      cross join lateral (
        select count(*)::int as decided, (percentile_disc(0.5) within group (order by seconds))::int as median_seconds,
          (percentile_disc(0.9) within group (order by seconds))::int as p90_seconds
        from (${decided(day)}) decision
      ) t
      where t.decided > 0 order by d.day
    `
    return { data }
  }
}
