import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import type { ExportedHead } from '../heads/exports.ts'
import type { Transfer } from './hash-chain.ts'

/** A player's account as a run begins with it, with its checkpoint and the entry that the checkpoint names. */
export interface Begun {
  readonly id: bigint
  readonly brandId: string
  readonly playerId: string
  readonly currency: string
  readonly genesis: Buffer
  readonly seq: bigint
  readonly entries: bigint | null
  readonly balance: string | null
  readonly hash: Buffer | null
  readonly below: string | null
  readonly entryHash: Buffer | null
  readonly entryBalance: bigint | null
  readonly entryXid: string | null
  /** Of the entry that a chain begins with if it does not begin at its checkpoint, and of the one before it. */
  readonly vouchedSeq: bigint | null
  readonly vouchedHash: string | null
  readonly beforeHash: Buffer | null
  readonly beforeBalance: bigint | null
}

/** The account itself, as of the snapshot that has its last entry. */
export interface Present {
  readonly id: bigint
  readonly posted: bigint
  readonly held: bigint
  readonly seq: bigint
  readonly head: Buffer
  /** The sum of what is held, which a bigint need not hold. */
  readonly reserved: string
}

/** A player's entry, read together with its transfer: `amount` is the entry's, below zero for a debit. */
interface Whole extends Omit<Transfer, 'id' | 'amount'> {
  readonly accountId: bigint
  readonly seq: bigint
  readonly amount: bigint
  readonly balance: bigint
  readonly hash: Buffer
  readonly transferId: string
  readonly transferAmount: bigint
  readonly xid: string
}

/** An entry whose transfer was removed. */
interface Orphan extends Pick<Whole, 'accountId' | 'seq' | 'amount' | 'balance' | 'hash' | 'transferId' | 'xid'> {
  readonly brandId: null
}

export type Entry = Whole | Orphan

export const isWhole = (entry: Entry): entry is Whole => entry.brandId !== null

/** @param heads whose entries chains begin with */
export const readAccounts = (
  db: ReadDb,
  ids: readonly bigint[],
  heads: ReadonlyMap<bigint, Pick<ExportedHead, 'seq' | 'hash'>> | undefined,
): Promise<Begun[]> => db<Begun>`
  select a.id, a.brand_id, a.owner_id as player_id, a.currency, a.genesis, a.seq, c.entries, c.balance, c.hash, c.below::text,
    e.hash as entry_hash, e.balance as entry_balance, e.xid::text as entry_xid,
    v.seq as vouched_seq, encode(v.hash, 'hex') as vouched_hash, b.hash as before_hash, b.balance as before_balance
  from unnest(${ids.map(String)}::bigint[], ${ids.map((id) => heads?.get(id)?.seq ?? null)}::bigint[]) as k (id, exported)
  join wallet.account a on a.id = k.id and a.kind = 'player'
  left join reconciler.account_checkpoint c on c.account_id = a.id
  left join wallet.entry e on e.account_id = a.id and e.seq = c.entries and e.seq is not null
  left join wallet.entry v on v.account_id = a.id and v.seq = k.exported and v.seq is not null
  left join wallet.entry b on b.account_id = a.id and b.seq = v.seq - 1 and b.seq is not null
  order by a.id
`

export function readEntries(db: ReadDb, places: readonly ChainPlace[], limit: number): Promise<Entry[]> {
  const ids = places.map(({ id }) => String(id))
  const seqs = places.map(({ seq }) => String(seq))
  return db<Entry>`
    select e.account_id, e.seq, e.amount, e.balance, e.hash, e.transfer_id, e.xid::text, t.amount as transfer_amount, t.brand_id,
      t.reference, t.type, t.debit_account, t.credit_account, t.outcome, t.reverses, t.reason, t.effective_at, t.created_at
    from unnest(${ids}::bigint[], ${seqs}::bigint[]) as k (id, seq)
    cross join lateral (
      select e.* from wallet.entry e where e.account_id = k.id and e.seq > k.seq and e.seq is not null
      order by e.seq limit ${limit}
    ) e
    left join wallet.transfer t on t.id = e.transfer_id
    order by e.account_id, e.seq
  `
}

export const readPresent = (db: ReadDb, places: readonly ChainPlace[]): Promise<Present[]> => db<Present>`
    select a.id, a.posted, a.held, a.seq, a.head, coalesce(h.amount, 0) as reserved
    from unnest(${places.map(({ id }) => String(id))}::bigint[]) as k (id)
    join wallet.account a on a.id = k.id
    cross join lateral (
      select sum(amount) as amount from wallet.hold where account_id = a.id and state = 'open'
    ) h
`

const time = (column: string) => sql`to_char(${sql.fixed(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const isTime = (column: string) => sql`${sql.fixed(column)} between '0001-01-01' and '9999-12-31'`

/**
 * The hash that an entry `e` of the transfer `t` must have, as `entryHash` computes it; null where there is none. PostgreSQL may
 * write JSON and times otherwise: then it is another one, and the chain is followed here to say what is wrong.
 */
export const hashOfEntry = (before: Fragment): Fragment => sql`
  case when num_nulls(t.id, t.brand_id, t.reference, t.type, t.debit_account, t.credit_account, t.amount, t.outcome) = 0
    and ${isTime('t.effective_at')} and ${isTime('t.created_at')}
  then sha256(${before} || convert_to(array_to_json(array[e.account_id::text, e.seq::text, e.amount::text, e.balance::text,
    t.id, t.brand_id, t.reference, t.type, t.debit_account::text, t.credit_account::text, t.amount::text, t.outcome, t.reverses,
    t.reason, ${time('t.effective_at')}, ${time('t.created_at')}])::text, 'UTF8')) end`

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
 * stored. All others are read and followed here, to say what is wrong.
 */
export function readRightChains(
  db: ReadDb,
  places: readonly ChainPlace[],
  { entriesMax, enteredFrom, endedBelow }: ChainsToRead,
): Promise<RightChain[]> {
  const rows = places.map(({ id, seq, balance, hash }) => ({ id, seq, balance, hash }))
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
        e.seq = e.seq_before + 1 and e.balance = e.balance_before + e.amount and e.xid < ${String(endedBelow)}::text::xid8
        and e.hash = ${hashOfEntry(sql`e.hash_before`)}, false))
    ) c
  `
}
