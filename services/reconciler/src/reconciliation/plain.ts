import { firstId } from '@backoffice/process'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import type { Kind } from './check.ts'
import { environmentOf } from './environments.ts'
import { eventsKeptSeconds } from './history-checks.ts'

/** Until when confirmations are so old that no event of them need be kept. */
export const isToldBefore = (now: Date): Date => new Date(now.getTime() - eventsKeptSeconds * 1_000)

/**
 * What nearly every record is: a deposit that its operator confirmed long ago, and its credit. One look says of a page of
 * them that nothing can differ, and the questions are asked about the others alone. It may be stricter than they are, never
 * milder: a question that it does not answer (`plain`) is asked about all. Each is about the record `s.key`, and is written
 * so that PostgreSQL looks at it by its key: an EXISTS it might answer by all that there is.
 */
const plainTransfer = sql`(
  select true from wallet.transfer t
  join wallet.account d on d.id = t.debit_account and d.kind = 'deposits' and d.brand_id = t.brand_id
  join wallet.account c on c.id = t.credit_account and c.kind = 'player' and c.brand_id = t.brand_id and c.currency = d.currency
  join payments.reconcilable_deposit r on r.id = t.reference and r.brand_id = t.brand_id
    and (r.status, r.amount, r.player_id) = ('confirmed', t.amount, c.owner_id)
  cross join lateral (
    select count(*) as entries,
      count(*) filter (where account_id = t.credit_account and amount = t.amount and seq is not null) as credits,
      count(*) filter (where account_id = t.debit_account and amount = case when t.amount > 0 then -t.amount end and seq is null) as debits
    from wallet.entry where transfer_id = t.id
  ) e
  where t.id = s.key and t.type = 'DEPOSIT' and t.outcome = 'posted' and (e.entries, e.credits, e.debits) = (2, 1, 1)
  limit 1
)`

const plainDeposit = (toldBefore: Date) => sql`(
  select true from payments.reconcilable_deposit d
  join wallet.transfer t on t.brand_id = d.brand_id and t.reference = d.id
  join wallet.account a on a.id = t.credit_account
  cross join lateral (
    select count(*) as steps,
      count(*) filter (where version = 1 and from_status is null and to_status = 'pending' and by_kind = 'operator') as begun,
      count(*) filter (where version = 2 and from_status = 'pending' and to_status = 'confirmed' and by_kind = 'operator'
        and at < ${toldBefore}::timestamptz) as confirmed
    from payments.reconcilable_transition where record_id = d.id
  ) h
  where d.id = s.key and d.id < ${firstId('dep', toldBefore)} and d.status = 'confirmed' and d.version = 2 and d.environment = ${environmentOf(sql`d.brand_id`)}
    and t.type = 'DEPOSIT' and t.outcome = 'posted' and (t.amount, a.owner_id, a.currency) = (d.amount, d.player_id, d.currency)
    and (h.steps, h.begun, h.confirmed) = (2, 1, 1)
    and not exists (select from payments.reconcilable_ended_command e where e.deposit_id = d.id)
    -- The newest of a player is held against the sum of its day.
    and (
      select true from payments.reconcilable_deposit later
      where later.player_id = d.player_id and later.created_at > d.created_at
      limit 1
    )
  limit 1
)`

export type PlainOf = Readonly<Partial<Record<Kind, Fragment>>>

/** @param toldBefore what was confirmed since then is held against what operators were told */
export const plainOf = (toldBefore: Date): PlainOf => ({ transfer: plainTransfer, deposit: plainDeposit(toldBefore) })

/** What a plain transfer is, for the checks that look at some transfers only. */
export const plainFacts = { type: 'DEPOSIT', isPosted: true } as const

/** Where one is in a chain: after which entry, as that is stored. */
export interface ChainPlace {
  readonly id: bigint
  readonly seq: bigint
  readonly balance: bigint
  readonly hash: Buffer
}

export interface ChainsToRead {
  /** Of a longer one only so many. */
  readonly entriesMax: number
  readonly enteredFrom: bigint
  readonly endedBelow: bigint
}

/** The rest of a chain, or so many entries of it, in which everything is right and of transactions that have ended. */
export interface RightChain {
  readonly id: bigint
  readonly entries: bigint
  readonly total: string
  /** The sum of what was entered since a transaction. */
  readonly entered: string
  readonly balance: bigint
  readonly hash: Buffer
}

/**
 * The chains that PostgreSQL itself finds right, by the rules of `follow`: it computes the hash of each entry over what is
 * stored. All others are read and followed here, to say what is wrong. JSON and times may be written otherwise there: then
 * the hash is another one, and the chain is followed here as well.
 */
export function readRightChains(
  db: ReadDb,
  places: readonly ChainPlace[],
  { entriesMax, enteredFrom, endedBelow }: ChainsToRead,
): Promise<RightChain[]> {
  const rows = places.map(({ id, seq, balance, hash }) => ({ id, seq, balance, hash }))
  const time = (column: string) =>
    sql`to_char(${sql.fixed(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const json = (column: string) => sql`coalesce(to_json(${sql.fixed(column)})::text, 'null')`
  return db<RightChain>`
    select k.id, c.* from ${sql.unnest('k', rows, 'id bigint, seq bigint, balance bigint, hash bytea')}
    cross join lateral (
      select count(*) as entries, sum(e.amount)::text as total, max(e.balance) filter (where e.is_last) as balance,
        coalesce(sum(e.amount) filter (where e.xid >= ${String(enteredFrom)}::text::xid8), 0)::text as entered,
        (array_agg(e.hash) filter (where e.is_last))[1] as hash
      from (
        select e.*, lead(e.seq) over chain is null as is_last, lag(e.seq, 1, k.seq) over chain as seq_before,
          lag(e.balance, 1, k.balance) over chain as balance_before, lag(e.hash, 1, k.hash) over chain as hash_before
        from (
          select * from wallet.entry where account_id = k.id and seq > k.seq and seq is not null order by seq limit ${entriesMax}
        ) e window chain as (order by e.seq)
      ) e left join wallet.transfer t on t.id = e.transfer_id
      having bool_and(coalesce(
        num_nulls(t.id, t.brand_id, t.reference, t.type, t.debit_account, t.credit_account, t.amount, t.outcome) = 0
        and t.effective_at between '0001-01-01' and '9999-12-31' and t.created_at between '0001-01-01' and '9999-12-31'
        and e.seq = e.seq_before + 1 and e.balance = e.balance_before + e.amount and e.xid < ${String(endedBelow)}::text::xid8
        and e.hash = sha256(e.hash_before || convert_to(concat(
          '["', e.account_id, '","', e.seq, '","', e.amount, '","', e.balance, '",', ${json('t.id')}, ',', ${json('t.brand_id')}, ',',
          ${json('t.reference')}, ',', ${json('t.type')}, ',"', t.debit_account, '","', t.credit_account, '","', t.amount, '",',
          ${json('t.outcome')}, ',', ${json('t.reverses')}, ',', ${json('t.reason')}, ',"', ${time('t.effective_at')}, '","',
          ${time('t.created_at')}, '"]'), 'UTF8')), false))
    ) c
  `
}
