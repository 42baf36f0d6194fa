import { type ReadDb, sql } from '@backoffice/service-runtime'
import type { ExportedHead } from '../heads/exports.ts'
import type { Play, Transfer } from './hash-chain.ts'
import { isOfPlay } from './play-checks.ts'
import type { ChainPlace } from './right-chains.ts'

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
  /** Null where the transfer is of none, or where it is gone. */
  readonly play: Play | null
}

/** An entry whose transfer was removed. */
interface Orphan extends Pick<Whole, 'accountId' | 'seq' | 'amount' | 'balance' | 'hash' | 'transferId' | 'xid'> {
  readonly brandId: null
}

export type Entry = Whole | Orphan

export const isWhole = (entry: Entry): entry is Whole => entry.brandId !== null

/** @param from heads whose entries chains begin with, or below which transaction their last entries are */
export const readAccounts = (
  db: ReadDb,
  ids: readonly bigint[],
  from: ReadonlyMap<bigint, Pick<ExportedHead, 'seq' | 'hash'>> | bigint | undefined,
): Promise<Begun[]> => db<Begun>`
  select a.id, a.brand_id, a.owner_id as player_id, a.currency, a.genesis, a.seq, c.entries, c.balance, c.hash, c.below::text,
    e.hash as entry_hash, e.balance as entry_balance, e.xid::text as entry_xid,
    v.seq as vouched_seq, encode(v.hash, 'hex') as vouched_hash, b.hash as before_hash, b.balance as before_balance
  from unnest(${ids.map(String)}::bigint[], ${ids.map((id) => (typeof from === 'bigint' ? null : (from?.get(id)?.seq ?? null)))}::bigint[]) as k (id, exported)
  join wallet.account a on a.id = k.id and a.kind = 'player'
  left join reconciler.account_checkpoint c on c.account_id = a.id
  left join wallet.entry e on e.account_id = a.id and e.seq = c.entries and e.seq is not null
  left join lateral (
    select seq, hash from wallet.entry where account_id = a.id and seq is not null
      and ${typeof from === 'bigint' ? sql`xid < ${String(from)}::text::xid8` : sql`seq = k.exported`}
    order by seq desc limit 1
  ) v on true
  left join wallet.entry b on b.account_id = a.id and b.seq = v.seq - 1 and b.seq is not null
  order by a.id
`

export async function readEntries(db: ReadDb, places: readonly ChainPlace[], limit: number): Promise<Entry[]> {
  const ids = places.map(({ id }) => String(id))
  const seqs = places.map(({ seq }) => String(seq))
  const entries = await db<Omit<Whole, 'play'> | Orphan>`
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
  const plays = await db<Play & { transferId: string }>`
    select t.id as transfer_id, p.* from unnest(${entries.map(({ transferId }) => transferId)}::text[]) as k (id)
    join wallet.transfer t on t.id = k.id join wallet.play p on ${isOfPlay} and p.id = t.reference
  `
  const playOf = new Map(plays.map(({ transferId, ...play }) => [transferId, play]))
  return entries.map((entry) => ({ ...entry, play: playOf.get(entry.transferId) ?? null }))
}

export const readPresent = (db: ReadDb, places: readonly ChainPlace[]): Promise<Present[]> => db<Present>`
    select a.id, a.posted, a.held, a.seq, a.head, coalesce(h.amount, 0) as reserved
    from unnest(${places.map(({ id }) => String(id))}::bigint[]) as k (id)
    join wallet.account a on a.id = k.id
    cross join lateral (
      select sum(amount) as amount from wallet.hold where account_id = a.id and state = 'open'
    ) h
`
