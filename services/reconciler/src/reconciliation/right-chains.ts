import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import { columnsOfPlay } from './hash-chain.ts'
import { isOfPlay } from './play-checks.ts'

const time = (column: string) => sql`to_char(${sql.fixed(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const isTime = (column: string) => sql`${sql.fixed(column)} between '0001-01-01' and '9999-12-31'`

const columnName = (name: string) => `p.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
/** What stands for a play `p` in a hash; null where PostgreSQL may write one of its times otherwise. */
const digestOfPlay = sql`
  case when ${isTime('p.created_at')} and (p.provider_time is null or ${isTime('p.provider_time')})
  then encode(sha256(convert_to(array_to_json(array[${columnsOfPlay
    .map(([name, type]) => {
      const column = columnName(name)
      if (type === 'time') return sql`to_json(${time(column)})`
      if (type === 'bytes') return sql`to_json(encode(${sql.fixed(column)}, 'hex'))`
      return type === 'boolean' ? sql`to_json(${sql.fixed(column)})` : sql`to_json(${sql.fixed(column)}::text)`
    })
    .reduce((some, other) => sql`${some}, ${other}`)}])::text, 'UTF8')), 'hex') end`

/** The play of a transfer `t`, with its digest. Of any other transfer nothing is looked up. */
export const playOfTransfer = sql`
  select p.id, p.brand_id, p.account_id, p.provider_id, p.kind, p.win_kind, p.outcome, p.amount, p.seq, p.created_at,
    ${digestOfPlay} as digest
  from wallet.play p where ${isOfPlay} and p.id = t.reference offset 0`

/** What an entry `e` and its transfer `t` are written as. */
const written = sql`e.account_id::text, e.seq::text, e.amount::text, e.balance::text,
    t.id, t.brand_id, t.reference, t.type, t.debit_account::text, t.credit_account::text, t.amount::text, t.outcome, t.reverses,
    t.reason, ${time('t.effective_at')}, ${time('t.created_at')}`

/**
 * The hash that an entry `e` of the transfer `t`, and of the play `p` if it is of one, must have, as `entryHash` computes it;
 * null where there is none. PostgreSQL may write JSON and times otherwise: then it is another one, and the chain is followed
 * here to say what is wrong.
 * @param mayPlay false where no transfer is of a play, and there is no `p`
 */
export const hashOfEntry = (before: Fragment, mayPlay = true): Fragment => sql`
  case when num_nulls(t.id, t.brand_id, t.reference, t.type, t.debit_account, t.credit_account, t.amount, t.outcome) = 0
    and ${isTime('t.effective_at')} and ${isTime('t.created_at')}
  then sha256(${before} || convert_to(array_to_json(${
    mayPlay
      ? sql`case when p.id is not null then array[${written}, p.digest] when not ${isOfPlay} then array[${written}] end`
      : sql`array[${written}]`
  })::text, 'UTF8')) end`

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
      left join lateral (${playOfTransfer}) p on true
      having bool_and(coalesce(
        e.seq = e.seq_before + 1 and e.balance = e.balance_before + e.amount and e.xid < ${String(endedBelow)}::text::xid8
        and e.hash = ${hashOfEntry(sql`e.hash_before`)}, false))
    ) c
  `
}
