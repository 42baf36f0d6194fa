import { type Fragment, sql } from '@backoffice/service-runtime'
import { piecesInAll } from '../storage/reconciliations.ts'
import type { Snapshot } from './snapshots.ts'

/** Which records a proof looks at: these pieces, or all of them. */
export type Share = readonly number[] | null

/** From one id to another, both included. Null: to the last. */
export interface IdRange {
  readonly begin: string
  readonly end: string | null
}

/** Where ids are: the table, its column, and how many rows a record has there. */
export type IdColumn = readonly [table: string, column: string, rows: number]

/** Ids begin with their kind and their time. Those with the same beginning are of some nine hours, and of one piece. */
const beginning = (id: Fragment): Fragment => sql`left(${id}, 9)`

export const isOfPiece = (id: Fragment, share: Share): Fragment =>
  share === null
    ? sql`true`
    : sql`(hashtextextended(${beginning(sql`${id}::text`)}, 0) & ${piecesInAll - 1}::int) = any(${share}::int[])`

/** The same of accounts, by their numbers. */
export const isAccountOfPiece = (share: Share): Fragment =>
  share === null ? sql`true` : sql`(id >> 10 & ${piecesInAll - 1}::int) = any(${share}::int[])`

export function within(column: string, { begin, end }: IdRange): Fragment {
  const id = sql.fixed(column)
  return end === null ? sql`${id} >= ${begin}` : sql`${id} between ${begin} and ${end}`
}

/** The last possible id with the same beginning. An id that goes on with the highest character, or is short, stands alone. */
const endOfNeighbours = (id: Fragment): Fragment =>
  sql`case when length(${id}) < 9 then ${id} else greatest(${beginning(id)} || chr(1114111), ${id}) end`

/**
 * The next ids of a share, with those that follow while they are of the same piece. An index finds them: what lies between is
 * of other pieces and is not read.
 * @param columns where ids may be. What one of them lacks, another may have.
 * @param limit how many records there are in a range, about
 * @returns null where there is no further one
 */
export async function nextRange(
  db: Snapshot,
  columns: readonly IdColumn[],
  { after, limit, share }: { readonly after: string | null; readonly limit: number; readonly share: Share },
): Promise<IdRange | null> {
  /** The least of all columns. */
  const least = (one: (table: Fragment, id: Fragment, rows: number) => Fragment): Fragment =>
    columns
      .map(([table, id, rows]) => sql`(${one(sql.fixed(table), sql.fixed(id), rows)})`)
      .reduce((some, other) => sql`least(${some}, ${other})`)
  const firstWhere = (follows: (id: Fragment) => Fragment) =>
    least((table, id) => sql`select ${id} from ${table} where ${follows(id)} order by ${id} limit 1`)
  const isFound = isOfPiece(sql`first.id`, share)
  const last = endOfNeighbours(sql`first.id`)
  const isNear = (id: Fragment) => (share === null ? sql`true` : sql`${id} <= ${last}`)
  const farthest = least(
    (table, id, rows) =>
      sql`select ${id} from ${table} where ${id} >= first.id and ${isNear(id)} order by ${id} offset ${limit * rows} limit 1`,
  )
  const [{ begin, end } = { begin: null, end: null }] = await db<{ begin: string | null; end: string | null }>`
    with recursive first (id) as (
      select ${firstWhere((id) => (after === null ? sql`true` : sql`${id} > ${after}`))}
      union all
      select ${firstWhere((id) => sql`${id} > ${last}`)} from first where first.id is not null and not ${isFound}
    )
    select first.id as begin, ${share === null ? farthest : sql`coalesce(${farthest}, ${last})`} as "end"
    from first where ${isFound}
  `
  return begin === null ? null : { begin, end }
}

/** What several do together: each takes the next part, which begins where the one before it ends. */
export class Turns<T> {
  #from: Promise<{ readonly after: T | null } | null> = Promise.resolve({ after: null })

  /**
   * @param read gets where the part before ended, or null at the beginning; `next` is where this one ends, or null when nothing
   *   follows. Null: there is no such part.
   */
  take<P>(read: (after: T | null) => Promise<{ readonly part: P; readonly next: T | null } | null>): Promise<P | null> {
    const taken = this.#from.then((from) => (from === null ? null : read(from.after)))
    this.#from = taken.then((one) => (one === null || one.next === null ? null : { after: one.next }))
    // Who takes the part gets the error. So does who comes next, if anybody does.
    this.#from.catch(() => {})
    return taken.then((one) => one?.part ?? null)
  }
}

export interface Plain {
  readonly read: number
  readonly plain: number
  /** How many of these are transfers of plays. */
  readonly ofPlay?: number
  /** Those that are not plain, and are to be looked at. */
  readonly keys: readonly string[]
}
