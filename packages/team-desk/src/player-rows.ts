import type { Vault } from '@backoffice/database/vault'
import { type Fragment, fitting, type ReadDb, sql } from '@backoffice/service-runtime'

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
