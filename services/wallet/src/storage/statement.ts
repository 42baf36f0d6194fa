import type { LedgerType } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { type RawBuilder, sql } from 'kysely'
import type { SystemAccountKind } from '../domain/posting.ts'

/** A player's entry with the transfer behind it. */
export interface StatementEntry {
  readonly brandId: string
  readonly playerId: string
  readonly currency: string
  readonly seq: bigint
  readonly amount: bigint
  readonly balance: bigint
  readonly hash: Buffer
  readonly transferId: string
  readonly type: LedgerType
  readonly reference: string
  readonly reverses: string | null
  readonly reason: string | null
  readonly effectiveAt: Date
  readonly createdAt: Date
}

interface StatementRow extends Omit<StatementEntry, 'seq' | 'amount' | 'balance' | 'effectiveAt' | 'createdAt'> {
  readonly seq: string
  readonly amount: string
  readonly balance: string
  readonly effectiveAt: Date | string
  readonly createdAt: Date | string
}

const columns = sql`
  t.brand_id as "brandId", a.owner_id as "playerId", a.currency, e.seq, e.amount, e.balance, e.hash, t.id as "transferId",
  t.type, t.reference, t.reverses, t.reason, t.effective_at as "effectiveAt", t.created_at as "createdAt"
`

async function read(connection: Sql, statement: RawBuilder<StatementRow>): Promise<StatementEntry[]> {
  const { rows } = await statement.execute(connection)
  return rows.map((row) => ({
    ...row,
    seq: BigInt(row.seq),
    amount: BigInt(row.amount),
    balance: BigInt(row.balance),
    effectiveAt: new Date(row.effectiveAt),
    createdAt: new Date(row.createdAt),
  }))
}

/** Newest first. The number of an entry is given under its account's lock, so a page never misses one that commits late. */
export function listEntriesBefore(
  connection: Sql,
  page: { readonly accountId: bigint; readonly before: bigint | null; readonly limit: number },
): Promise<StatementEntry[]> {
  return read(
    connection,
    sql<StatementRow>`
      select ${columns} from entry e join transfer t on t.id = e.transfer_id join account a on a.id = e.account_id
      where e.account_id = ${page.accountId} and e.seq is not null
        and (${page.before}::bigint is null or e.seq < ${page.before}::bigint)
      order by e.seq desc limit ${page.limit}
    `,
  )
}

/** The hash of an account's entry; null when there is none with that number. */
export async function readEntryHash(
  connection: Sql,
  { accountId, seq }: { readonly accountId: bigint; readonly seq: bigint },
): Promise<Buffer | null> {
  const { rows } = await sql<{ hash: Buffer }>`
    select hash from entry where account_id = ${accountId} and seq = ${seq}
  `.execute(connection)
  return rows[0]?.hash ?? null
}

/** The player's side of a posted transfer. */
export async function findEntry(
  connection: Sql,
  { transferId, brandId }: { readonly transferId: string; readonly brandId?: string },
): Promise<StatementEntry | null> {
  const entries = await read(
    connection,
    sql<StatementRow>`
      select ${columns} from transfer t join entry e on e.transfer_id = t.id and e.seq is not null
      join account a on a.id = e.account_id
      where t.id = ${transferId} and (${brandId ?? null}::text is null or t.brand_id = ${brandId ?? null})
    `,
  )
  return entries[0] ?? null
}

/** The system account on the other side of a posted transfer. */
export async function readCounterparty(connection: Sql, transferId: string): Promise<SystemAccountKind> {
  const { rows } = await sql<{ kind: SystemAccountKind }>`
    select a.kind from entry e join account a on a.id = e.account_id where e.transfer_id = ${transferId} and e.seq is null
  `.execute(connection)
  if (rows[0] === undefined) throw new Error(`transfer ${transferId} has no counterparty`)
  return rows[0].kind
}

export interface Period {
  readonly brandId: string
  readonly from: Date
  /** Not included. */
  readonly to: Date
}

/** A brand's entries of a period, oldest first, after the given place. */
export function listEntriesOfPeriod(
  connection: Sql,
  period: Period,
  page: { readonly after: { readonly createdAt: Date; readonly transferId: string } | null; readonly limit: number },
): Promise<StatementEntry[]> {
  const { after, limit } = page
  return read(
    connection,
    sql<StatementRow>`
      select ${columns} from transfer t join entry e on e.transfer_id = t.id and e.seq is not null
      join account a on a.id = e.account_id
      where t.brand_id = ${period.brandId} and t.outcome = 'posted'
        and t.created_at >= ${period.from}::timestamptz and t.created_at < ${period.to}::timestamptz
        and (${after === null} or (t.created_at, t.id) > (${after?.createdAt ?? null}::timestamptz, ${after?.transferId ?? null}::text))
      order by t.created_at, t.id limit ${limit}
    `,
  )
}

export interface PeriodTotals {
  readonly currency: string
  /** What the brand's players own now, and what was entered since the beginning and since the end of the period. */
  readonly posted: bigint
  readonly sinceFrom: bigint
  readonly sinceTo: bigint
  readonly byType: readonly { readonly type: LedgerType; readonly entries: number; readonly amount: bigint }[]
}

/** The sums of a brand's period, per currency. In one statement, so that all of it is of one moment. */
export async function sumPeriod(connection: Sql, { brandId, from, to }: Period): Promise<PeriodTotals[]> {
  const { rows } = await sql<{
    currency: string
    posted: string
    sinceFrom: string
    sinceTo: string
    byType: { type: LedgerType; entries: number; amount: string }[] | null
  }>`
    with recent as (
      select a.currency, t.type, t.created_at < ${to}::timestamptz as inside, count(*) as entries, sum(e.amount) as amount
      from transfer t join entry e on e.transfer_id = t.id and e.seq is not null join account a on a.id = e.account_id
      where t.brand_id = ${brandId} and t.outcome = 'posted' and t.created_at >= ${from}::timestamptz
      group by 1, 2, 3
    ), owned as (
      select currency, sum(posted) as posted from account where brand_id = ${brandId} and kind = 'player' group by 1
    )
    select o.currency, o.posted::text as posted,
      coalesce((select sum(r.amount) from recent r where r.currency = o.currency), 0)::text as "sinceFrom",
      coalesce((select sum(r.amount) from recent r where r.currency = o.currency and not r.inside), 0)::text as "sinceTo",
      (select json_agg(json_build_object('type', r.type, 'entries', r.entries, 'amount', r.amount::text) order by r.type)
        from recent r where r.currency = o.currency and r.inside) as "byType"
    from owned o order by o.currency
  `.execute(connection)
  return rows.map((row) => ({
    currency: row.currency,
    posted: BigInt(row.posted),
    sinceFrom: BigInt(row.sinceFrom),
    sinceTo: BigInt(row.sinceTo),
    byType: (row.byType ?? []).map((line) => ({ ...line, amount: BigInt(line.amount) })),
  }))
}
