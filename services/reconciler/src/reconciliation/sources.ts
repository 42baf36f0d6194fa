import { firstId } from '@backoffice/process'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import type { Kind } from './check.ts'
import { isOfPiece, type Plain, type Share } from './ranges.ts'
import type { Snapshot } from './snapshots.ts'

/** Where an incremental run begins. */
export interface Since {
  /** Everything of transactions below this one was looked at. */
  readonly below: bigint
  /** Ids that were made before this moment were looked at. */
  readonly at: Date
}

/** Where a page begins: after the row of this place. Null: before all rows, whatever they are called. */
type Place = readonly (string | null)[]

interface Page extends Plain {
  /** Where the next page begins. Null: there is none. */
  readonly next: Place | null
}

/** Where keys come from, page by page. A page is read in the snapshot in which its keys are looked at. */
export interface Source {
  readonly kind: Kind
  /** The table whose rows it goes through, for the progress. */
  readonly table: string
  readonly first: Place
  /** Nothing that a column may hold makes it fail where all is `asked`: it takes no value for another type than it has. */
  readonly page: (db: Snapshot, after: Place, limit: number, asked?: 'all') => Promise<Page>
}

/** Times of ids and of rows come from the clocks of processes, and a row is seen when its transaction ends. */
export const overlapMs = 10 * 60_000

export const beginningOf = ({ below, at }: { readonly below: string; readonly at: Date }): Since => ({
  below: BigInt(below),
  at: new Date(at.getTime() - overlapMs),
})

/** Whether an id was made before the moment from which an incremental run finds it by its own table. */
export const isOlder = (prefix: 'dep' | 'wdr' | 'rnd', id: string, { at }: Since): boolean => id < firstId(prefix, at)

interface Paged {
  readonly kind: Kind
  readonly table: string
  /** Of the record that a row `r` is about; the row's id without it. */
  readonly key?: Fragment
  /** The columns, with their types, in whose order an index has the rows. As text they keep all of a time. */
  readonly order: string
  readonly first: Place
  /** Which rows there are besides, beginning with `and`. */
  readonly range?: Fragment
  readonly skipped?: Fragment
  /** By which column it belongs to a piece; `id` when absent. Null: each run looks at all. */
  readonly member?: string | null
}

/** Goes through a table in the order of some columns. */
export function paged(source: Paged, share: Share = null): Source {
  const { kind, table, key = sql`r.id`, order, first, range = sql``, skipped = sql`false`, member = 'id' } = source
  const isOther = member === null ? sql`false` : sql`not ${isOfPiece(sql.fixed(`r.${member}`), share)}`
  const columns = order.split(', ').map((column) => column.split(' ') as [string, string])
  const place = sql.fixed(columns.map(([name]) => `r.${name}::text`).join(', '))
  const [[one, typeOfOne], other] = columns as [[string, string], [string, string]?]
  // A statement of its own for the first page: one for both would be planned to read the whole table for each page. An index
  // may have the first column alone.
  const isAfter = ([first, second]: Place) => {
    if (first === null) return sql`true`
    const begin = sql`${first}::text::${sql.fixed(typeOfOne)}`
    if (other === undefined) return sql`r.${sql.fixed(one)} > ${begin}`
    const [two, typeOfTwo] = other.map(sql.fixed)
    return sql`r.${sql.fixed(one)} >= ${begin} and (r.${sql.fixed(one)}, r.${two}) > (${begin}, ${second}::text::${typeOfTwo})`
  }
  return {
    kind,
    table,
    first,
    // Of what is skipped only the last row leaves PostgreSQL.
    page: async (db, after, limit, asked) => {
      const rows = await db<Row & { read: bigint }>`
        select key, place, skipped, read from (
          select s.*, count(*) over () as read, row_number() over () as n from (
            select ${key} as key, array[${place}] as place, (${isOther}) or (${asked === 'all' ? sql`false` : skipped}) as skipped
            from (
              select * from ${sql.fixed(table)} r
              where ${isAfter(after)} ${range} order by ${sql.columns(order, 'r')} limit ${limit}
            ) r offset 0
          ) s
        ) p where not skipped or n = read
      `
      return pageOf(rows, Number(rows[0]?.read ?? 0), limit)
    },
  }
}

interface Row {
  /** Null: of what the row is about there is nothing. */
  readonly key: string | null
  /** Where the next page goes on. */
  readonly place: Place
  /** The run looks at it for another reason. */
  readonly skipped: boolean
}

const pageOf = (rows: readonly Row[], read: number, limit: number): Page => ({
  keys: rows.flatMap(({ key, skipped }) => (skipped || key === null ? [] : [key])),
  ...{ read, plain: 0, next: read < limit ? null : (rows.at(-1)?.place ?? null) },
})

const holdKey = sql`json_build_array(r.brand_id, r.reference)::text`

/** Those since a moment are looked for in each brand: their references are ids of withdrawals. */
function holdsSince({ at }: Since): Source {
  const first = firstId('wdr', at)
  return {
    kind: 'hold',
    table: 'wallet.hold',
    first: ['', ''],
    page: async (db, [brandId, reference], limit) => {
      const rows = await db<Row>`
      select ${holdKey} as key, array[r.brand_id, r.reference] as place, false as skipped
      from (
        select distinct brand_id from wallet.account where owner_id is null and brand_id >= ${brandId}
      ) b
      cross join lateral (
        select h.brand_id, h.reference from wallet.hold h
        where h.brand_id = b.brand_id and h.reference > case b.brand_id
          when ${brandId} then greatest(${reference} collate "C", ${first}) else ${first} end
        order by h.reference limit ${limit}
      ) r
      order by r.brand_id, r.reference limit ${limit}
    `
      return pageOf(rows, rows.length, limit)
    },
  }
}

/** Row by row. The rows of a record that is there are looked at with the record. */
const historiesSince = (first: string, range: Fragment) =>
  paged({
    ...{ kind: 'history', table: 'payments.reconcilable_transition', key: sql`r.record_id` },
    ...{ order: 'record_id text, version integer', first: [first, '0'], range },
    skipped: sql`exists (select from payments.reconcilable_deposit d where d.id = r.record_id)
      or exists (select from payments.reconcilable_transition f where f.record_id = r.record_id and f.version < r.version)
      or exists (select from payments.reconcilable_withdrawal w where w.id = r.record_id)`,
  })

/** They are few, and a setting that was changed says nothing of when. */
const settings = (
  [
    ['operator', 'gateway.reconcilable_operator'],
    ['credential', 'gateway.reconcilable_credential'],
    ['endpoint', 'webhooks.reconcilable_endpoint'],
    ['documentSource', 'players.reconcilable_document_source'],
    ['provider', 'gateway.reconcilable_provider'],
    ['providerKey', 'gateway.reconcilable_provider_key'],
    ['gameProvider', 'players.reconcilable_game_provider'],
  ] as const
).map(([kind, table]) => paged({ kind, table, order: 'id text', first: [null], member: null }))
const settingsOfPairs = (
  [
    ['providerBrand', 'gateway.reconcilable_provider_brand'],
    ['winLimit', 'wallet.reconcilable_win_limit'],
  ] as const
).map(([kind, table]) =>
  paged({ kind, table, order: 'provider_id text, brand_id text', first: [null, ''], member: null }),
)

/**
 * What has something to be compared with, in the order in which it is looked at. Ids begin with their kind and go on with
 * their time: those since a moment are neighbours. What is as large as the ledger a proof looks at by itself (`largeSources`).
 * @param since null: what was entered at any time, as far as it belongs to the share
 * @param endedBelow transactions below this one have ended
 */
export function sourcesOf(since: Since | null, endedBelow: bigint, share: Share = null): readonly Source[] {
  type Prefix = Parameters<typeof firstId>[0]
  const firstOf = (prefix: Prefix) => (since === null ? null : firstId(prefix, since.at))
  // A full run takes ids of every form. The underscore is followed by the backquote.
  const rangeOf = (prefix: Prefix, id: Fragment) => (since === null ? sql`` : sql`and ${id} < ${`${prefix}\``}`)
  const byId = (kind: Kind, table: string, prefix: Prefix, more: Partial<Paged> = {}) =>
    paged(
      { kind, table, order: 'id text', first: [firstOf(prefix)], range: rangeOf(prefix, sql`r.id`), ...more },
      share,
    )
  const byTime = (kind: Kind, table: string, more: Partial<Paged> = {}) =>
    paged(
      { kind, table, order: 'at timestamptz, id text', first: [since?.at.toISOString() ?? null, ''], ...more },
      share,
    )
  const enteredLately = sql`exists (
    select from wallet.entry e where e.transfer_id = r.id and e.seq is null
      and e.xid >= ${String(since?.below ?? 0n)}::text::xid8 and e.xid < ${String(endedBelow)}::text::xid8)`
  const about = { key: sql`r.aggregate` }
  const ofHistory = {
    ...{ key: sql`r.id::text`, order: 'at timestamptz, id bigint' },
    first: [since?.at.toISOString() ?? null, '0'],
  }
  return [
    // The others were found by their entries.
    ...(since === null ? [] : [byId('transfer', 'wallet.transfer', 'trf', { skipped: enteredLately })]),
    since === null
      ? byId('hold', 'wallet.hold', 'wdr', {
          key: holdKey,
          order: 'brand_id text, reference text',
          member: 'reference',
        })
      : holdsSince(since),
    ...(since === null ? [] : [byId('deposit', 'payments.reconcilable_deposit', 'dep')]),
    ...(since === null ? [] : [byId('play', 'wallet.play', 'pla'), byId('round', 'wallet.round', 'rnd')]),
    byId('withdrawal', 'payments.reconcilable_withdrawal', 'wdr'),
    ...(since === null
      ? []
      : (['dep', 'wdr'] as const).map((one) => historiesSince(firstId(one, since.at), rangeOf(one, sql`r.record_id`)))),
    byTime('playDay', 'wallet.reconcilable_play_day', {
      ...{ order: 'closed_at timestamptz, brand_id text, day date' },
      first: [since?.at.toISOString() ?? null, '', '-infinity'],
    }),
    byTime('playDayEvent', 'wallet.reconcilable_day_event', { ...about, order: 'published_at timestamptz, id text' }),
    byTime('walletAudit', 'wallet.reconcilable_audit'),
    byTime('paymentsAudit', 'payments.reconcilable_audit'),
    // Published ones by PostgreSQL's clock, and those that wait to be published.
    byTime('event', 'payments.reconcilable_event', { ...about, order: 'published_at timestamptz, id text' }),
    byId('event', 'payments.reconcilable_outbox', 'evt', { ...about, range: sql``, skipped: sql`r.kind <> 'event'` }),
    byId('player', 'players.reconcilable_player', 'ply'),
    byTime('kycChange', 'players.reconcilable_kyc_change', ofHistory),
    byTime('statusChange', 'players.reconcilable_status_change', ofHistory),
    ...settings,
    ...settingsOfPairs,
    byTime('heldWin', 'wallet.reconcilable_held_win', { order: 'released_at timestamptz, id text' }),
  ]
}

/** In pieces of at most so many. */
export function* pagesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let begin = 0; begin < items.length; begin += size) yield items.slice(begin, begin + size)
}

/** About how many rows a table has, or the table that a view shows. */
export async function estimate(db: ReadDb, table: string): Promise<number> {
  const [row] = await db<{ rows: bigint }>`
    select coalesce(max(reltuples), 0)::bigint as rows from pg_class
    where reltuples > 0 and (oid = ${table}::text::regclass or oid in (
      select d.refobjid from pg_rewrite r join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
      where r.ev_class = ${table}::text::regclass))
  `
  return Number(row?.rows ?? 0)
}

export const inOrder = (one: bigint, other: bigint): number => (one < other ? -1 : 1)
