import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import type { FoundDifference } from '../checks/check.ts'
import { piecesInAll } from '../storage/reconciliations.ts'
import type { Snapshot, Snapshots } from '../storage/snapshots.ts'

/** Which records a proof looks at: these pieces, or all of them. */
export type Share = readonly number[] | null

/** From one id to another, both included. Null: to the last. */
interface IdRange {
  readonly begin: string
  readonly end: string | null
}

/** Where ids are: the table, its column, and how many rows a record has there. */
type IdColumn = readonly [table: string, column: string, rows: number]

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

/** Transfers, and what entries without a transfer name. */
const transferIds = (range: IdRange): Fragment => sql`
  select id, false as is_gone from wallet.transfer where ${within('id', range)}
  union select transfer_id, false from wallet.entry where ${within('transfer_id', range)}
`

/** Deposits, and what has a history and is no deposit and no withdrawal. The history of a record is looked at with the record. */
const depositIds = (range: IdRange): Fragment => sql`
  select id, false as is_gone from payments.reconcilable_deposit where ${within('id', range)}
  union all
  select h.record_id, true from (
    select distinct record_id from payments.reconcilable_transition where ${within('record_id', range)}
  ) h
  where not exists (select from payments.reconcilable_deposit d where d.id = h.record_id)
    and not exists (select from payments.reconcilable_withdrawal w where w.id = h.record_id)
`

/** What is as large as the ledger, and is gone through by ranges of ids. */
export const largeSources = {
  transfer: {
    columns: [
      ['wallet.transfer', 'id', 1],
      ['wallet.entry', 'transfer_id', 2],
    ],
    ids: transferIds,
  },
  deposit: {
    columns: [
      ['payments.reconcilable_deposit', 'id', 1],
      ['payments.reconcilable_transition', 'record_id', 2],
    ],
    ids: depositIds,
  },
} satisfies Readonly<Record<string, { columns: readonly [IdColumn, ...IdColumn[]]; ids: (range: IdRange) => Fragment }>>

/** The ids of a range. It takes no value for another type than it has, so no value makes it fail. */
export async function readIds(
  db: Snapshot,
  { ids }: { readonly ids: (range: IdRange) => Fragment },
  range: IdRange,
): Promise<{ readonly keys: readonly string[]; readonly gone: readonly string[] }> {
  const rows = await db<{ id: string; isGone: boolean }>`select i.id, i.is_gone from (${ids(range)}) i order by i.id`
  const of = (isGone: boolean) => rows.filter((row) => row.isGone === isGone).map(({ id }) => id)
  return { keys: of(false), gone: of(true) }
}

/** Accounts that entries of players name and that are gone, between two ids of accounts. A full run alone goes through all ids. */
async function accountsGone(db: ReadDb, after: bigint | null, upTo: bigint | null): Promise<bigint[]> {
  const begin = after === null ? sql`` : sql`and account_id > ${after}::bigint`
  const end = upTo === null ? sql`` : sql`and account_id <= ${upTo}::bigint`
  const rows = await db<{ accountId: bigint }>`
    -- From one account's first entry to that of the next: a plain DISTINCT would read all entries between.
    with recursive owner (account_id) as (
      (select account_id from wallet.entry where seq is not null ${begin} ${end}
        order by account_id limit 1)
      union all
      select (select account_id from wallet.entry where seq is not null and account_id > owner.account_id ${end}
        order by account_id limit 1)
      from owner where owner.account_id is not null
    )
    select account_id from owner
    where account_id is not null and not exists (select from wallet.account a where a.id = owner.account_id and a.kind = 'player')
  `
  return rows.map(({ accountId }) => accountId)
}

interface PlayersPage {
  readonly ids: bigint[]
  readonly gone: readonly bigint[]
  /** Where the next page begins. Null: there is none. */
  readonly next: bigint | null
}

/** The next accounts of players, and those around them that are gone. */
export async function playersAfter(
  db: ReadDb,
  after: bigint | null,
  { limit, share }: { readonly limit: number; readonly share: Share },
): Promise<PlayersPage> {
  const rows = await db<{ id: bigint }>`
    select id from wallet.account where kind = 'player' and ${isAccountOfPiece(share)} ${after === null ? sql`` : sql`and id > ${after}`}
    order by id limit ${limit}
  `
  const ids = rows.map(({ id }) => id)
  const next = ids.length < limit ? null : (ids.at(-1) ?? null)
  return { ids, gone: await accountsGone(db, after, next), next }
}

export const accountGone = (id: bigint): FoundDifference => ({
  ...{ brandId: null, subject: `account ${id}`, expected: 'an account', actual: 'nothing' },
  explanation: 'The account of entries is gone.',
})

/** Each connection takes the next part, until all are done. */
export async function divided(
  connections: readonly Snapshots[],
  parts: readonly ((snapshots: Snapshots) => Promise<void>)[],
): Promise<void> {
  const left = parts.values()
  const work = async (snapshots: Snapshots) => {
    for (const part of left) await part(snapshots)
  }
  await Promise.all(connections.map(work))
}

/**
 * What several connections do together: each takes the next part, which begins where the one before it ends.
 * @param next gets where the part before ended, or null at the beginning, and says where this one ends, or null when nothing
 *   follows. Null: there is no such part.
 */
export function inTurns<Place, Part>(
  next: (
    snapshots: Snapshots,
    after: Place | null,
  ) => Promise<{ readonly part: Part; readonly next: Place | null } | null>,
  look: (snapshots: Snapshots, part: Part) => Promise<void>,
): (snapshots: Snapshots) => Promise<void> {
  let from: Promise<{ readonly after: Place | null } | null> = Promise.resolve({ after: null })
  return async (snapshots) => {
    for (;;) {
      const taken = from.then((place) => (place === null ? null : next(snapshots, place.after)))
      from = taken.then((one) => (one === null || one.next === null ? null : { after: one.next }))
      // Who takes the part gets the error. So does who comes next, if anybody does.
      from.catch(() => {})
      const one = await taken
      if (one === null) return
      await look(snapshots, one.part)
    }
  }
}
