import { firstId } from '@backoffice/process'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import type { Kind } from './check.ts'

/** Where an incremental run begins. */
export interface Since {
  /** Everything of transactions below this one was looked at. */
  readonly below: bigint
  /** Ids that were made before this moment were looked at. */
  readonly at: Date
}

/** Where a page begins: after the row of this place. Null: before all rows, whatever they are called. */
type Place = readonly (string | null)[]

/** A statement of its own for the first page: one for both would be planned to read the whole table for each page. */
const comesAfter = (last: string | null | undefined, condition: Fragment): Fragment =>
  last === null ? sql`true` : condition

interface Row {
  readonly key: string
  /** Where the next page goes on. */
  readonly place: Place
  /** The run looks at it for another reason. */
  readonly skipped: boolean
}

/** Where keys come from, page by page. A page is read in the snapshot in which its keys are looked at. */
export interface Source {
  readonly kind: Kind
  /** The table whose rows it goes through, for the progress. */
  readonly table: string
  readonly first: Place
  /** Nothing that a column may hold makes it fail: it takes no value for another type than it has. */
  readonly page: (db: ReadDb, after: Place, limit: number) => Promise<Row[]>
}

/** Times of ids and of rows come from the clocks of processes, and a row is seen when its transaction ends. */
export const overlapMs = 10 * 60_000

export const beginningOf = ({ below, at }: { readonly below: string; readonly at: Date }): Since => ({
  below: BigInt(below),
  at: new Date(at.getTime() - overlapMs),
})

/** Whether an id was made before the moment from which an incremental run finds it by its own table. */
export const isOlder = (prefix: 'dep' | 'wdr', id: string, { at }: Since): boolean => id < firstId(prefix, at)

interface ById {
  readonly kind: Kind
  readonly from: Fragment
  readonly prefix: Parameters<typeof firstId>[0]
  readonly skipped?: Fragment
}

/** Rows by an id that begins with its kind and goes on with its time: those since a moment are neighbours. */
function byId({ kind, from, prefix, skipped = sql`false` }: ById, since: Since | null): Source {
  // A full run takes ids of every form. The underscore is followed by the backquote.
  const range = since === null ? sql`` : sql`and r.id < ${`${prefix}\``}`
  return {
    kind,
    table: from.strings.join(''),
    first: [since === null ? null : firstId(prefix, since.at)],
    page: (db, [after], limit) => db<Row>`
      select r.id as key, array[r.id] as place, ${skipped} as skipped from ${from} r
      where ${comesAfter(after, sql`r.id > ${after}`)} ${range} order by r.id limit ${limit}
    `,
  }
}

/** Histories, row by row. The rows of a record that is there are looked at with the record. */
function histories(prefix: 'dep' | 'wdr', since: Since | null): Source {
  const range = since === null ? sql`` : sql`and r.record_id < ${`${prefix}\``}`
  return {
    kind: 'history',
    table: 'payments.reconcilable_transition',
    first: since === null ? [null, null] : [firstId(prefix, since.at), '0'],
    page: (db, [id, version], limit) => db<Row>`
      select r.record_id as key, array[r.record_id, r.version::text] as place,
        exists (select from payments.reconcilable_transition f where f.record_id = r.record_id and f.version < r.version)
        or exists (select from payments.reconcilable_deposit d where d.id = r.record_id)
        or exists (select from payments.reconcilable_withdrawal w where w.id = r.record_id) as skipped
      from payments.reconcilable_transition r
      where ${comesAfter(id, sql`(r.record_id, r.version) > (${id}, ${version}::text::integer)`)} ${range}
      order by r.record_id, r.version limit ${limit}
    `,
  }
}

/** Audit entries by their time, as text, which keeps microseconds. */
function audits(kind: 'walletAudit' | 'paymentsAudit', from: Fragment, since: Since | null): Source {
  return {
    kind,
    table: from.strings.join(''),
    first: [since?.at.toISOString() ?? null, ''],
    page: (db, [at, id], limit) => db<Row>`
      select r.id as key, array[r.at::text, r.id] as place, false as skipped from ${from} r
      where ${comesAfter(at, sql`r.at >= ${at}::text::timestamptz and (r.at, r.id) > (${at}::text::timestamptz, ${id})`)}
      order by r.at, r.id limit ${limit}
    `,
  }
}

/** Published events by their time, on PostgreSQL's clock, as text which keeps all of it. */
const publishedEvents = (since: Since | null): Source => ({
  kind: 'event',
  table: 'payments.reconcilable_event',
  first: [since?.at.toISOString() ?? null, ''],
  page: (db, [at, id], limit) => db<Row>`
    select r.aggregate as key, array[r.published_at::text, r.id] as place, false as skipped
    from payments.reconcilable_event r
    where ${comesAfter(
      at,
      sql`r.published_at >= ${at}::text::timestamptz and (r.published_at, r.id) > (${at}::text::timestamptz, ${id})`,
    )}
    order by r.published_at, r.id limit ${limit}
  `,
})

/** Events that wait to be published. */
const waitingEvents = (since: Since | null): Source => ({
  kind: 'event',
  table: 'payments.reconcilable_outbox',
  first: [since === null ? null : firstId('evt', since.at)],
  page: (db, [after], limit) => db<Row>`
    select r.aggregate as key, array[r.id] as place, r.kind <> 'event' as skipped
    from payments.reconcilable_outbox r where ${comesAfter(after, sql`r.id > ${after}`)} order by r.id limit ${limit}
  `,
})

/** Changes of the KYC status by their time. An index has these alone. */
const kycChanges = (since: Since | null): Source => ({
  kind: 'kycChange',
  table: 'players.reconcilable_kyc_change',
  first: [since?.at.toISOString() ?? null, '0'],
  page: (db, [at, id], limit) => db<Row>`
    select r.id::text as key, array[r.at::text, r.id::text] as place, false as skipped from players.reconcilable_kyc_change r
    where ${comesAfter(
      at,
      sql`r.at >= ${at}::text::timestamptz and (r.at, r.id) > (${at}::text::timestamptz, ${id}::text::bigint)`,
    )}
    order by r.at, r.id limit ${limit}
  `,
})

/**
 * Holds by brand and reference. Those since a moment are looked for in each brand: their references are ids of withdrawals.
 */
function holds(since: Since | null): Source {
  const table = 'wallet.hold'
  if (since === null)
    return {
      kind: 'hold',
      table,
      first: [null, null],
      page: (db, [brandId, reference], limit) => db<Row>`
        select json_build_array(r.brand_id, r.reference)::text as key, array[r.brand_id, r.reference] as place, false as skipped
        from wallet.hold r
        where ${comesAfter(brandId, sql`(r.brand_id, r.reference) > (${brandId}, ${reference})`)}
        order by r.brand_id, r.reference limit ${limit}
      `,
    }
  const first = firstId('wdr', since.at)
  return {
    kind: 'hold',
    table,
    first: ['', ''],
    page: (db, [brandId, reference], limit) => db<Row>`
      select json_build_array(r.brand_id, r.reference)::text as key, array[r.brand_id, r.reference] as place, false as skipped
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
    `,
  }
}

/**
 * Everything that has something to be compared with, in the order in which it is looked at.
 * @param endedBelow transactions below this one have ended
 */
export function sourcesOf(since: Since | null, endedBelow: bigint): readonly Source[] {
  const enteredLately = sql`exists (
    select from wallet.entry e where e.transfer_id = r.id and e.seq is null
      and e.xid >= ${String(since?.below ?? 0n)}::text::xid8 and e.xid < ${String(endedBelow)}::text::xid8)`
  const both = <T>(of: (prefix: 'dep' | 'wdr') => T): T[] => (since === null ? [of('dep')] : [of('dep'), of('wdr')])
  return [
    byId(
      {
        ...{ kind: 'transfer', from: sql`wallet.transfer`, prefix: 'trf' },
        // Those were found by their entries.
        ...(since === null ? {} : { skipped: enteredLately }),
      },
      since,
    ),
    holds(since),
    byId({ kind: 'deposit', from: sql`payments.reconcilable_deposit`, prefix: 'dep' }, since),
    byId({ kind: 'withdrawal', from: sql`payments.reconcilable_withdrawal`, prefix: 'wdr' }, since),
    ...both((prefix) => histories(prefix, since)),
    audits('walletAudit', sql`wallet.reconcilable_audit`, since),
    audits('paymentsAudit', sql`payments.reconcilable_audit`, since),
    publishedEvents(since),
    waitingEvents(since),
    byId({ kind: 'player', from: sql`players.reconcilable_player`, prefix: 'ply' }, since),
    kycChanges(since),
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

/** Of the transfers that entries name those that are not there. */
export async function withoutTransfer(db: ReadDb, ids: readonly string[]): Promise<string[]> {
  const rows = await db<{ id: string }>`
    select k.id from unnest(${ids}::text[]) as k (id) where not exists (select from wallet.transfer t where t.id = k.id)
  `
  return rows.map(({ id }) => id)
}

export const inOrder = (one: bigint, other: bigint): number => (one < other ? -1 : 1)
