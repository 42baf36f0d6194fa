import type { IdOf, LedgerType } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import type { PlayerTable } from '@backoffice/team-access'
import type { AccountTarget, SystemAccountKind, Transfer } from '../ledger/posting.ts'

/** What everybody is shown of a player's entry. `amount` is below zero for a debit. */
export interface ShownEntry extends Pick<Transfer, 'reference' | 'type' | 'amount' | 'createdAt'> {
  readonly transferId: IdOf<'transfer'>
  readonly seq: bigint
  readonly balance: bigint
  readonly currency: string
  /** Of what a provider of games did. */
  readonly roundId: IdOf<'round'> | null
}

/** The same, with what the team is shown of the transfer behind it. */
export interface StatementEntry extends ShownEntry, Pick<Transfer, 'brandId' | 'reverses' | 'reason' | 'effectiveAt'> {
  readonly playerId: IdOf<'player'>
  readonly transferAmount: bigint
  /** Of the people who corrected the balance, who asked for it; of two, who agreed. */
  readonly by: string | null
  readonly approvedBy: string | null
}

const shownColumns = sql`
  t.reference, t.type, e.amount, t.created_at, e.transfer_id, e.seq, e.balance, a.currency, play.round_id
`
/** What a provider of games did, of the transfer `t`. Of any other transfer no page is read: there is no row with the id null. */
const ofPlay = sql`
  left join play on play.id = case when t.type in ('BET', 'WIN', 'ROLLBACK', 'JACKPOT', 'PROMOTION') then t.reference end
`
const columns = sql`
  ${shownColumns}, t.brand_id, t.reverses, t.reason, t.effective_at, a.owner_id as player_id,
  t.amount as transfer_amount, people.by, people.approved_by
`
/** Who made a correction, `t`, of the entry `e`: one transaction has written them and the entry of the audit trail. */
const people = sql`
  left join lateral (
    select coalesce(p.proposed_by, c.actor) as by, p.decided_by as approved_by
    from audit_entry c left join team_proposal p on p.id = c.proposal and p.operation = c.operation
    where t.type in ('ADJUSTMENT', 'REVERSAL') and c.xid = e.xid and c.outcome = 'done'
      -- An index finds them by it.
      and c.at between t.created_at - interval '1 minute' and t.created_at + interval '1 minute'
      -- A reversal names its transfer, or the ledger item that it made.
      and c.subject in (a.owner_id, t.reverses, 'led' || substr(t.reverses, 4)) and c.input ->> 'reference' = t.reference
    limit 1
  ) people on true
`

export interface AskedPage extends Pick<AccountTarget, 'brandId' | 'playerId'> {
  /** The entries below this number; the newest ones when null. */
  readonly before: bigint | null
  readonly limit: number
}

interface PageEntry extends ShownEntry {
  /** Of the last but one of as many as were asked for, what a cursor is made of. No other entry needs it. */
  readonly hashOfEnd: Buffer | null
}

export interface Page {
  /** Newest first. */
  readonly entries: PageEntry[]
  /** Of the entry with the number `before`; null when there is none. */
  readonly hash: Buffer | null
}

/**
 * Pages of players' entries, in the order asked for; undefined where a brand has no such player. The number of an entry is
 * given under its account's lock, so a page never misses one that commits late.
 */
export async function readPages(db: ReadDb, asked: readonly AskedPage[]): Promise<(Page | undefined)[]> {
  const numbered = asked.map(({ limit, ...page }, number) => ({ ...page, number, most: limit }))
  const [newest, older] = [numbered.filter(isNewest), numbered.filter((page) => !isNewest(page))]
  const rows = await Promise.all([readNewest(db, newest), readBefore(db, older)])
  const pages = asked.map((): Page | undefined => undefined)
  for (const row of rows.flat()) {
    pages[row.number] ??= { entries: [], hash: row.hashBefore }
    if (row.seq !== null) pages[row.number]?.entries.push(row)
  }
  return pages
}

const isNewest = ({ before }: Pick<AskedPage, 'before'>): boolean => before === null

/** An account without such entries has one row without an entry. */
type PageRow = { readonly number: number; readonly hashBefore: Buffer | null } & (PageEntry | { readonly seq: null })
type NumberedPage = Omit<AskedPage, 'limit'> & { readonly number: number; readonly most: number }
const pageColumns = 'number int, brand_id text, player_id text, most int'

const pageEntry = sql`case when e.place = asked.most - 1 then e.hash end as hash_of_end, ${shownColumns}`

/** More than any page has. With a limit that it knows, the planner expects a page, and not a tenth of the account. */
const pageMax = sql`1001`

async function readNewest(db: ReadDb, asked: readonly NumberedPage[]): Promise<PageRow[]> {
  if (asked.length === 0) return []
  return db<PageRow>`
    select asked.number, null::bytea as hash_before, ${pageEntry}
    from ${sql.unnest('asked', asked, pageColumns)}
    join account a on a.brand_id = asked.brand_id and a.owner_id = asked.player_id
    left join lateral (
      select *, row_number() over () as place from (
        select * from entry where account_id = a.id and seq is not null order by seq desc limit ${pageMax}
      ) newest limit asked.most
    ) e on true
    left join transfer t on t.id = e.transfer_id
    ${ofPlay}
    order by asked.number, e.seq desc
  `
}

async function readBefore(db: ReadDb, asked: readonly NumberedPage[]): Promise<PageRow[]> {
  if (asked.length === 0) return []
  return db<PageRow>`
    select asked.number, bound.hash as hash_before, ${pageEntry}
    from ${sql.unnest('asked', asked, `${pageColumns}, before bigint`)}
    join account a on a.brand_id = asked.brand_id and a.owner_id = asked.player_id
    left join lateral (
      -- Its limit keeps the planner from joining all entries of the account and looking for the number among them.
      select hash from entry where account_id = a.id and seq = asked.before limit 1
    ) bound on true
    left join lateral (
      select *, row_number() over () as place from (
        select * from entry where account_id = a.id and seq < asked.before order by seq desc limit ${pageMax}
      ) older limit asked.most
    ) e on true
    left join transfer t on t.id = e.transfer_id
    ${ofPlay}
    order by asked.number, e.seq desc
  `
}

export interface EntryFilter extends AskedPage {
  readonly type?: LedgerType | undefined
  /** When it was entered: from this time on, and before that. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** Only credits of this amount or more. */
  readonly amountFrom?: bigint | undefined
}

/** A player's entries that a filter leaves, newest first. It may have to read all entries of the account for them. */
export function listEntriesOf(db: ReadDb, filter: EntryFilter): Promise<StatementEntry[]> {
  const { brandId, playerId, before, limit, type = null, from = null, to = null, amountFrom = null } = filter
  return db<StatementEntry>`
    select ${columns}
    from account a join entry e on e.account_id = a.id and e.seq is not null join transfer t on t.id = e.transfer_id
    ${ofPlay}
    ${people}
    where a.brand_id = ${brandId} and a.owner_id = ${playerId} and (${before}::bigint is null or e.seq < ${before})
      and (${type}::text is null or t.type = ${type})
      and (${amountFrom}::bigint is null or e.amount >= ${amountFrom})
      and t.created_at >= coalesce(${from}::timestamptz, '-infinity')
      and t.created_at < coalesce(${to}::timestamptz, 'infinity')
    order by e.seq desc limit ${limit}
  `
}

/** The players' sides of posted transfers. Those of one player come newest first. */
export function findEntries(db: ReadDb, transferIds: readonly string[]): Promise<StatementEntry[]> {
  return db<StatementEntry>`
    select ${columns} from transfer t join entry e on e.transfer_id = t.id and e.seq is not null
    join account a on a.id = e.account_id
    ${ofPlay}
    ${people}
    where t.id = any(${transferIds}::text[]) order by e.seq desc
  `
}

export const findEntry = async (db: ReadDb, transferId: IdOf<'transfer'>): Promise<StatementEntry | undefined> =>
  (await findEntries(db, [transferId]))[0]

/** The player's side of what was posted under a reference, which is unique in its brand. */
export async function findEntryUnder(
  db: ReadDb,
  { brandId, reference }: Pick<Transfer, 'brandId' | 'reference'>,
): Promise<StatementEntry | undefined> {
  const rows = await db<StatementEntry>`
    select ${columns} from transfer t join entry e on e.transfer_id = t.id and e.seq is not null
    join account a on a.id = e.account_id
    ${ofPlay}
    ${people}
    where t.brand_id = ${brandId} and t.reference = ${reference}
  `
  return rows[0]
}

/** What a player's entries of one round are, newest first. */
export function listEntriesOfRound(
  db: ReadDb,
  { roundId, before, limit }: Pick<AskedPage, 'before' | 'limit'> & { readonly roundId: IdOf<'round'> },
): Promise<StatementEntry[]> {
  return db<StatementEntry>`
    select ${columns}
    from play of_round join transfer t on t.brand_id = of_round.brand_id and t.reference = of_round.id
    join entry e on e.transfer_id = t.id and e.seq is not null join account a on a.id = e.account_id
    ${ofPlay}
    ${people}
    where of_round.round_id = ${roundId} and (${before}::bigint is null or e.seq < ${before})
    order by e.seq desc limit ${limit}
  `
}

/** The system account on the other side of a posted transfer: of which kind, and for which provider of games. */
export async function readCounterparty(
  db: ReadDb,
  transferId: IdOf<'transfer'>,
): Promise<{ readonly counterparty: SystemAccountKind; readonly party: string }> {
  const [row] = await db<{ counterparty: SystemAccountKind; party: string }>`
    select a.kind as counterparty, a.party
    from entry e join account a on a.id = e.account_id where e.transfer_id = ${transferId} and e.seq is null
  `
  if (row === undefined) throw new Error(`transfer ${transferId} has no counterparty`)
  return row
}

export interface StatementPeriod {
  readonly brandId: IdOf<'brand'>
  readonly from: Date
  /** Not included. */
  readonly to: Date
}

/**
 * An entry has the time at which it was decided, and is seen once its transaction has committed. No transaction lasts
 * longer than this, because statements and idle transactions have limits that together are shorter.
 */
export const settlingSeconds = 60

/** Whether everything that was entered before a moment can be read. PostgreSQL's clock decides for all replicas. */
export async function isSettled(db: ReadDb, at: Date): Promise<boolean> {
  const [row] = await db<{ settled: boolean }>`
    select ${at}::timestamptz <= clock_timestamp() - make_interval(secs => ${settlingSeconds}::int) as settled
  `
  return row?.settled ?? false
}

/** A place in the order of a period. */
export interface PeriodPlace {
  readonly createdAt: Date
  readonly transferId: IdOf<'transfer'>
}

/** A brand's entries of a period, oldest first, after the given place or from the beginning. */
export function listEntriesOfPeriod(
  db: ReadDb,
  { brandId, from, to }: StatementPeriod,
  { after, limit }: { readonly after: PeriodPlace | null; readonly limit: number },
): Promise<StatementEntry[]> {
  const entries = sql`
    from transfer t join entry e on e.transfer_id = t.id and e.seq is not null join account a on a.id = e.account_id
    ${ofPlay}
    ${people}
    where t.brand_id = ${brandId} and t.outcome = 'posted'
      and t.created_at >= ${from}::timestamptz and t.created_at < ${to}::timestamptz
  `
  if (after === null) return db<StatementEntry>`select ${columns} ${entries} order by t.created_at, t.id limit ${limit}`
  return db<StatementEntry>`
    select ${columns} ${entries} and (t.created_at, t.id) > (${after.createdAt}::timestamptz, ${after.transferId}::text)
    order by t.created_at, t.id limit ${limit}
  `
}

export interface PeriodTotals {
  readonly currency: string
  /**
   * The balances of the brand's players now, and the sums of what was entered since the beginning and since the end of
   * the period.
   */
  readonly posted: bigint
  readonly sinceFrom: bigint
  readonly sinceTo: bigint
  readonly byType: readonly { readonly type: LedgerType; readonly entries: number; readonly amount: bigint }[]
}

/** The sums of a brand's period, per currency. One statement reads them all, so that they belong to one moment. */
export async function sumPeriod(db: ReadDb, { brandId, from, to }: StatementPeriod): Promise<PeriodTotals[]> {
  const rows = await db<
    Pick<PeriodTotals, 'currency'> &
      Record<'posted' | 'sinceFrom' | 'sinceTo', string> & {
        byType: { type: LedgerType; entries: number; amount: string }[] | null
      }
  >`
    with recent as (
      select a.currency, t.type, t.created_at < ${to}::timestamptz as inside, count(*) as entries, sum(e.amount) as amount
      from transfer t join entry e on e.transfer_id = t.id and e.seq is not null join account a on a.id = e.account_id
      where t.brand_id = ${brandId} and t.outcome = 'posted' and t.created_at >= ${from}::timestamptz
      group by 1, 2, 3
    ), owned as (
      select currency, sum(posted) as posted from account where brand_id = ${brandId} and owner_id is not null group by 1
    )
    select o.currency, o.posted,
      coalesce((select sum(r.amount) from recent r where r.currency = o.currency), 0) as since_from,
      coalesce((select sum(r.amount) from recent r where r.currency = o.currency and not r.inside), 0) as since_to,
      (select json_agg(json_build_object('type', r.type, 'entries', r.entries, 'amount', r.amount::text) order by r.type)
        from recent r where r.currency = o.currency and r.inside) as by_type
    from owned o order by o.currency
  `
  // Amounts in JSON are text, because a JSON number is not exact above 2^53. Sums are numeric, and so text too: those of
  // a brand may be larger than a balance.
  return rows.map((row) => ({
    currency: row.currency,
    posted: BigInt(row.posted),
    sinceFrom: BigInt(row.sinceFrom),
    sinceTo: BigInt(row.sinceTo),
    byType: (row.byType ?? []).map((line) => ({ ...line, amount: BigInt(line.amount) })),
  }))
}

const accountOf = (playerId: string) => sql`select id from account where owner_id = ${playerId}`

const isOfAccount = (playerId: string) => sql`account_id in (${accountOf(playerId)})`

/** Every table with rows about players, but for copies, which are purged after days. */
export const playerTables: readonly PlayerTable[] = [
  { table: 'account', key: 'id', isAbout: (playerId) => sql`owner_id = ${playerId}` },
  { table: 'entry', key: 'transfer_id', isAbout: isOfAccount },
  {
    table: 'transfer',
    key: 'id',
    isAbout: (playerId) => sql`debit_account in (${accountOf(playerId)}) or credit_account in (${accountOf(playerId)})`,
  },
  { table: 'hold', key: 'reference', isAbout: isOfAccount },
  { table: 'play', key: 'id', isAbout: isOfAccount },
  { table: 'round', key: 'id', isAbout: isOfAccount },
  { table: 'held_win', key: 'transaction_id', isAbout: isOfAccount },
  { table: 'audit_entry', key: 'id', isAbout: (playerId) => sql`subject = ${playerId}` },
  { table: 'team_proposal', key: 'id', isAbout: (playerId) => sql`input ->> 'playerId' = ${playerId}` },
]
