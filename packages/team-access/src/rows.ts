import { operations, Rejection, type Scope } from '@backoffice/contracts'
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

interface Asking extends Pick<Call, 'requestId' | 'deadline'> {
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
