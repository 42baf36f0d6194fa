import { sql } from '@backoffice/service-runtime'
import {
  contentsOfRound,
  exclusionsOf,
  isExcluded,
  isOfRound,
  isOfSession,
  moves,
  namedBet,
  typeOfPlay,
} from './play-checks.ts'
import { leastLimits } from './provider-settings.ts'
import { type IdRange, type Plain, within } from './ranges.ts'
import type { Snapshot } from './snapshots.ts'

// What a proof asks of many plays and rounds at once, as plain-records.ts does of transfers and deposits: it may be stricter
// than the questions, never milder.

/**
 * A posted transfer of a bet or a win, with its two entries `e` between the account `o` of its player and the provider's own
 * `h`, of a play `p`, found by its id, that says the same, its time included. That of a rollback is asked about.
 */
export const isPlainPlayTransfer = sql`t.type <> 'ROLLBACK' and t.outcome = 'posted' and t.amount > 0 and e.entries = 2
  and e.guarded = 1 and (e.account_id, e.other_id) = (
    case t.type when 'BET' then t.debit_account else t.credit_account end,
    case t.type when 'BET' then t.credit_account else t.debit_account end)
  and (e.amount, -e.other_amount::numeric) = (
    case t.type when 'BET' then -t.amount::numeric else t.amount end, case t.type when 'BET' then -t.amount::numeric else t.amount end)
  and o.kind = 'player' and h.kind = case t.type when 'JACKPOT' then 'jackpots' when 'PROMOTION' then 'promotions' else 'play' end
  and (h.brand_id, h.currency, o.brand_id) = (t.brand_id, o.currency, t.brand_id)
  and (p.outcome, p.brand_id, p.amount, p.account_id, p.seq, p.provider_id, ${typeOfPlay})
    = ('posted', t.brand_id, t.amount, e.account_id, e.seq, h.party, t.type)
  and p.created_at - t.created_at = interval '0'`

interface Row {
  readonly read: bigint
  readonly plain: bigint
  readonly keys: readonly string[] | null
}
const pageOf = ({ read, plain, keys }: Row = { read: 0n, plain: 0n, keys: null }): Plain => ({
  ...{ read: Number(read), plain: Number(plain), keys: keys ?? [] },
})
const counted = sql`count(*) as read, count(*) filter (where is_plain) as plain, array_agg(id) filter (where not is_plain) as keys`

/**
 * Bets and wins that are of their rounds and have their transfers, and what was refused and has none. What its transfer is,
 * `readTransfers` says, and in what order the plays of a round are, `readRounds`. The self-exclusions of a page are read once
 * for each of its accounts.
 * @param leastMaxWin as `leastLimits` takes it
 */
export async function readPlays(db: Snapshot, range: IdRange, leastMaxWin: bigint): Promise<Plain> {
  const [row] = await db.merging(
    () => db<Row>`
    with play as materialized (select * from wallet.play where ${within('id', range)}),
    limited as materialized (${leastLimits(sql`play`, leastMaxWin)}),
    excluded as materialized (
      select a.id as account_id, x.begins, x.ends
      from (select distinct account_id from play where kind = 'bet' and outcome = 'posted') b
      join wallet.account a on a.id = b.account_id
      cross join lateral (${exclusionsOf(sql`a.owner_id`)}) x
    )
    select ${counted} from (
      select p.id, coalesce(
        p.kind <> 'rollback' and p.outcome in ('posted', 'refused') and (${isOfRound})
        and case when ${moves} then t.outcome = 'posted' and (t.type, t.amount) = (${typeOfPlay}, p.amount) else t.id is null end
        and case when p.outcome = 'refused' then true
          when p.kind = 'win' then (
            select p.amount <= l.amount from limited l where (l.provider_id, l.brand_id) = (p.provider_id, p.brand_id)
          ) and (p.bet_transaction_id is null or p.win_kind = 'promotion' or exists (
            select from (${namedBet} offset 0) b
            where (b.account_id, b.outcome) = (p.account_id, 'posted') and b.round_id is not distinct from p.round_id
          ))
          else (
            select ${isOfSession} from wallet.account a left join players.reconcilable_session s on s.id = p.session_id
            where a.id = p.account_id
          ) and not exists (select from excluded x where x.account_id = p.account_id and ${isExcluded})
        end, false) as is_plain
      from play p
      left join lateral (select * from wallet.round where id = p.round_id offset 0) r on true
      left join lateral (
        select id, type, amount, outcome from wallet.transfer where brand_id = p.brand_id and reference = p.id offset 0
      ) t on true
      offset 0
    ) p
  `,
  )
  return pageOf(row)
}

/** Rounds that nobody of the team ended, and that are not void, with their bets and wins in order. */
export async function readRounds(db: Snapshot, range: IdRange): Promise<Plain> {
  const [row] = await db.merging(
    () => db<Row>`
    select ${counted} from (
      select r.id, r.state <> 'void' and r.closed_by is distinct from 'team' and o.bets > 0
        and r.live_bets = o.bets - o.rollbacks and coalesce(o.first_win >= o.first_bet, true) and coalesce(o.last_bet <= r.closed_seq, true) as is_plain
      from wallet.round r cross join lateral (${contentsOfRound} offset 0) o
      where ${within('r.id', range)}
      offset 0
    ) r
  `,
  )
  return pageOf(row)
}

/** The same where each is asked about. */
export const namePlays = async (db: Snapshot, range: IdRange) =>
  pageOfAll(await db<{ id: string }>`select id from wallet.play where ${within('id', range)} order by id`)
export const nameRounds = async (db: Snapshot, range: IdRange) =>
  pageOfAll(await db<{ id: string }>`select id from wallet.round where ${within('id', range)} order by id`)

const pageOfAll = (rows: readonly { readonly id: string }[]): Plain => ({
  ...{ read: rows.length, plain: 0, keys: rows.map(({ id }) => id) },
})
