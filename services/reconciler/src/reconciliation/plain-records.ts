import { firstId } from '@backoffice/process'
import { type Fragment, sql } from '@backoffice/service-runtime'
import { environmentOf } from './environments.ts'
import { isPlainPlayTransfer } from './plain-plays.ts'
import { isOfPlay } from './play-checks.ts'
import { type IdRange, type Plain, within } from './ranges.ts'
import { hashOfEntry, playOfTransfer } from './right-chains.ts'
import type { Snapshot } from './snapshots.ts'

/**
 * What a proof asks of many records at once. Ids begin with their time, and what belongs together was written together: a page
 * is a range of ids, of which each table is read in order. So nothing is looked up that lies elsewhere, except the entry
 * before one in its chain. One statement says which records of the page are plain, that is, right in all that the questions
 * ask; these are asked about the others alone. It may be stricter than the questions, never milder.
 */

export interface EnteredAmount {
  readonly brandId: string
  readonly currency: string
  readonly amount: bigint
}

export interface TransferPage extends Plain {
  /** How many entries of players continue their chains. */
  readonly linked: number
  /** What these entered by transactions that have ended. */
  readonly entered: readonly EnteredAmount[]
  /** Transfers with an entry of a player that does not. */
  readonly unlinked: readonly string[]
}

/** A posted deposit, with its two entries and between the right accounts, of a deposit that is confirmed. */
const isPlainTransfer = sql`t.type = 'DEPOSIT' and t.outcome = 'posted' and t.amount > 0 and e.entries = 2 and e.guarded = 1
  and (e.amount, -e.other_amount::numeric, e.account_id, e.other_id) = (t.amount, t.amount, t.credit_account, t.debit_account)
  and h.kind = 'deposits' and o.kind = 'player' and (h.brand_id, h.currency, o.brand_id) = (t.brand_id, o.currency, t.brand_id)
  and (r.status, r.brand_id, r.amount, r.player_id, r.currency) = ('confirmed', t.brand_id, t.amount, o.owner_id, o.currency)`

/**
 * Transfers with their entries, and entries without a transfer. Each entry of a player is held against the one before it, by
 * the rules of `follow`: where all are right and the account's last one is, the chain is right.
 * @param endedBelow transactions below this one have ended
 * @param isPlainEnough whether a plain transfer needs no question
 */
export async function readTransfers(
  db: Snapshot,
  range: IdRange,
  { endedBelow, isPlainEnough }: { readonly endedBelow: bigint; readonly isPlainEnough: boolean },
): Promise<TransferPage> {
  const [page] = await db<{ mayPlay: boolean }>`
    select exists (select from wallet.transfer t where ${within('t.id', range)} and ${isOfPlay}) as may_play
  `
  const { mayPlay = true } = page ?? {}
  // Of a column PostgreSQL knows how few accounts it has, and looks each up once. Of what is plain it is the other entry's.
  const house = mayPlay ? sql`e.other_id` : sql`t.debit_account`
  const play = mayPlay ? sql`left join lateral (${playOfTransfer}) p on true` : sql``
  const isPlain = mayPlay
    ? sql`case when ${isOfPlay} then ${isPlainPlayTransfer} else ${isPlainTransfer} end`
    : isPlainTransfer
  const deposit = sql`select * from payments.reconcilable_deposit where id = t.reference offset 0`
  const rows = await db.merging(
    () => db<{
      brandId: string | null
      currency: string | null
      read: bigint
      plain: bigint
      ofPlay: bigint
      keys: string[] | null
      linked: bigint
      entered: string
      unlinked: string[] | null
    }>`
    select o.brand_id, o.currency, count(t.id) as read, count(t.id) filter (where c.is_plain) as plain,
      ${mayPlay ? sql`count(p.id) filter (where c.is_plain)` : sql`0::bigint`} as of_play, array_agg(c.id) filter (where not c.is_plain) as keys,
      count(e.seq) filter (where c.is_linked) as linked, coalesce(sum(e.entered) filter (where c.is_linked), 0)::text as entered,
      array_agg(c.id) filter (where not c.is_linked) as unlinked
    from (select * from wallet.transfer where ${within('id', range)}) t
    full join (
      select transfer_id, count(*) as entries, count(seq) as guarded, any_value(seq) as seq, any_value(balance) as balance,
        any_value(hash) as hash, any_value(account_id) filter (where seq is not null) as account_id,
        any_value(amount) filter (where seq is not null) as amount, any_value(account_id) filter (where seq is null) as other_id,
        any_value(amount) filter (where seq is null) as other_amount,
        sum(amount) filter (where seq is not null and xid < ${String(endedBelow)}::text::xid8) as entered
      from wallet.entry where ${within('transfer_id', range)} group by transfer_id
    ) e on e.transfer_id = t.id
    left join lateral (select * from wallet.account where id = e.account_id offset 0) o on true
    left join lateral (select * from wallet.account where id = ${house} offset 0) h on true
    ${play}
    left join lateral (
      select balance, hash from wallet.entry where account_id = e.account_id and seq = e.seq - 1 and seq is not null offset 0
    ) l on true
    left join lateral (${isPlainEnough ? deposit : sql`select`}) r on true
    cross join lateral (
      select case when e.seq = 1 then 0 else l.balance end as balance, case when e.seq = 1 then o.genesis else l.hash end as hash
    ) before
    cross join lateral (
      select coalesce(t.id, e.transfer_id) as id, ${isPlainEnough ? sql`coalesce(${isPlain}, false)` : sql`false`} as is_plain,
        coalesce(e.guarded, 0) = 0 or coalesce(e.guarded = 1 and o.kind = 'player' and e.balance = before.balance::numeric + e.amount
          and e.hash = ${hashOfEntry(sql`before.hash`, mayPlay)}, false) as is_linked
      -- Computed once, not for each sum that asks for it.
      offset 0
    ) c
    group by o.brand_id, o.currency
  `,
  )
  return {
    read: rows.reduce((sum, { read }) => sum + Number(read), 0),
    plain: rows.reduce((sum, { plain }) => sum + Number(plain), 0),
    ofPlay: rows.reduce((sum, { ofPlay }) => sum + Number(ofPlay), 0),
    keys: rows.flatMap(({ keys }) => keys ?? []),
    linked: rows.reduce((sum, { linked }) => sum + Number(linked), 0),
    // An entry that continues a chain has an account.
    entered: rows.flatMap(({ brandId, currency, entered }) =>
      brandId === null || currency === null ? [] : [{ brandId, currency, amount: BigInt(entered) }],
    ),
    unlinked: rows.flatMap(({ unlinked }) => unlinked ?? []),
  }
}

/** The same where a value makes that fail: all is asked, and each chain is followed. */
export async function nameTransfers(db: Snapshot, range: IdRange): Promise<TransferPage> {
  const rows = await db<{ id: string }>`
    select id from wallet.transfer where ${within('id', range)}
    union select transfer_id from wallet.entry where ${within('transfer_id', range)} order by id
  `
  const keys = rows.map(({ id }) => id)
  return { read: keys.length, plain: 0, keys, linked: 0, entered: [], unlinked: keys }
}

/** Of some transfers: whose chains they belong to, and what was entered there by transactions that have ended. */
export async function readChained(
  db: Snapshot,
  transfers: readonly string[],
  endedBelow: bigint,
): Promise<readonly (EnteredAmount & { readonly id: bigint; readonly entries: bigint })[]> {
  const rows = await db<{ id: bigint; entries: bigint; brandId: string; currency: string; entered: string }>`
    select a.id, count(*) as entries, a.brand_id, a.currency, coalesce(sum(e.amount) filter (where e.xid < ${String(endedBelow)}::text::xid8), 0)::text as entered
    from unnest(${transfers}::text[]) as k (id)
    join wallet.entry e on e.transfer_id = k.id and e.seq > 0
    join wallet.account a on a.id = e.account_id and a.kind = 'player' group by a.id
  `
  return rows.map(({ entered, ...account }) => ({ ...account, amount: BigInt(entered) }))
}

export interface DepositPage extends Plain {
  /** What has a history and is no deposit and no withdrawal. The history of a record is looked at with the record. */
  readonly gone: readonly string[]
}

const isGone = (id: Fragment): Fragment =>
  sql`not exists (select from payments.reconcilable_withdrawal w where w.id = ${id})`

/**
 * Deposits with their histories and transfers, and histories without a deposit: plain is one that its operator confirmed long
 * ago and that has its transfer. What that transfer is, `readTransfers` says.
 * @param toldBefore what was confirmed since then is held against what operators were told
 */
export async function readDeposits(db: Snapshot, range: IdRange, toldBefore: Date): Promise<DepositPage> {
  const [row] = await db.merging(
    () => db<{ read: bigint; plain: bigint; keys: string[] | null; gone: string[] | null }>`
    select count(id) as read, count(id) filter (where is_plain) as plain, array_agg(id) filter (where not is_plain) as keys,
      array_agg(record_id) filter (where id is null and ${isGone(sql`record_id`)}) as gone
    from (
      select d.id, h.record_id, coalesce(
        d.id < ${firstId('dep', toldBefore)} and d.status = 'confirmed' and d.version = 2
        and d.environment = ${environmentOf(sql`d.brand_id`)} and (h.steps, h.begun, h.confirmed) = (2, 1, 1)
        and (select (t.type, t.outcome, t.amount) = ('DEPOSIT', 'posted', d.amount) from wallet.transfer t
          where t.brand_id = d.brand_id and t.reference = d.id)
        and not exists (select from payments.reconcilable_ended_command e where e.deposit_id = d.id), false) as is_plain
      from (select * from payments.reconcilable_deposit where ${within('id', range)}) d
      full join (
        select record_id, count(*) as steps,
          count(*) filter (where version = 1 and from_status is null and to_status = 'pending' and by_kind = 'operator') as begun,
          count(*) filter (where version = 2 and from_status = 'pending' and to_status = 'confirmed' and by_kind = 'operator'
            and at < ${toldBefore}::timestamptz) as confirmed
        from payments.reconcilable_transition where ${within('record_id', range)} group by record_id
      ) h on h.record_id = d.id
      -- Computed once, not for each count that asks for it.
      offset 0
    ) d
  `,
  )
  const { read, plain, keys, gone } = row ?? { read: 0n, plain: 0n, keys: null, gone: null }
  return { read: Number(read), plain: Number(plain), keys: keys ?? [], gone: gone ?? [] }
}

/** The same where each deposit is asked about. */
export async function nameDeposits(db: Snapshot, range: IdRange): Promise<DepositPage> {
  const rows = await db.merging(
    () => db<{ id: string | null; recordId: string | null }>`
    select d.id, s.record_id
    from (select id from payments.reconcilable_deposit where ${within('id', range)}) d
    full join (
      select distinct record_id from payments.reconcilable_transition where ${within('record_id', range)}
    ) s on s.record_id = d.id
    where d.id is not null or ${isGone(sql`s.record_id`)} order by d.id
  `,
  )
  const keys = rows.flatMap(({ id }) => id ?? [])
  return {
    read: keys.length,
    plain: 0,
    keys,
    gone: rows.flatMap(({ id, recordId }) => (id === null ? (recordId ?? []) : [])),
  }
}
