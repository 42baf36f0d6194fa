import type { ReadDb } from '../database/db.ts'
import { type Fragment, sql } from '../database/statement.ts'

// What a service may ask about its own outbox. A row is there until it is done.

/**
 * Whether a command about a record is not done yet. It is looked up for one record after another: for `exists` PostgreSQL
 * may read all that is unfinished.
 * @param recordId a column, named with its table
 */
export const isUnfinished = (recordId: Fragment): Fragment =>
  sql`(select true from outbox where aggregate = ${recordId} and kind = 'command' limit 1) is not null`

/** The commands that are not done, as a table of a statement: `created_at` and `environment` of each. */
export const unfinishedCommands: Fragment = sql`(select created_at, environment from outbox where kind = 'command')`

/** The operations whose commands are not done yet, by the record that a command is about. */
export async function findUnfinished(db: ReadDb, recordIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (recordIds.length === 0) return new Map()
  const rows = await db<{ aggregate: string; operationId: string }>`
    select distinct on (aggregate) aggregate, operation_id from outbox
    where aggregate = any(${recordIds}::text[]) and kind = 'command' and operation_id is not null
    order by aggregate, aggregate_seq
  `
  return new Map(rows.map(({ aggregate, operationId }) => [aggregate, operationId]))
}
