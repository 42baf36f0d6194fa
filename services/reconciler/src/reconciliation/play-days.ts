import { otherProviders } from '@backoffice/contracts'
import { sql } from '@backoffice/service-runtime'
import { sqlCheck } from './check.ts'
import { isOfPlay } from './play-checks.ts'

// The days of brands with what was played on them, in the words of what operators are told.

const amounts = ['bets', 'wins', 'rollbacks', 'jackpots', 'promotions'] as const
const typeOf = {
  bets: 'BET',
  wins: 'WIN',
  rollbacks: 'ROLLBACK',
  jackpots: 'JACKPOT',
  promotions: 'PROMOTION',
} as const

/** The lines `s` of a day, one after another. */
const written = sql`string_agg(format('%s %s: rounds %s, bets %s, wins %s, rollbacks %s, jackpots %s, promotions %s, ggr %s',
  s.provider_id, s.currency, s.rounds, s.bets, s.wins, s.rollbacks, s.jackpots, s.promotions, s.ggr), '; '
  order by s.provider_id collate "C", s.currency collate "C")`
const linesOf = (document: 'd.sums' | 'e.providers') => sql`
  select "providerId" as provider_id, currency, rounds, bets, wins, rollbacks, jackpots, promotions, ggr
  from json_to_recordset(${sql.fixed(document)}) as x ("providerId" text, currency text, rounds numeric, bets numeric, wins numeric,
    rollbacks numeric, jackpots numeric, promotions numeric, ggr numeric)
`

/** What a reversal of the team takes back counts as that; a stake it gives back as a rollback does. */
const typeOfMove = sql`case t.type when 'REVERSAL' then case o.type when 'BET' then 'ROLLBACK' else o.type end else t.type end`

/** By provider, what was entered on its accounts in a `day`, and how many rounds were opened. Bets are what it took. */
const booked = sql`
  select coalesce(m.provider_id, r.provider_id) as provider_id, coalesce(m.currency, b.currency) as currency,
    coalesce(r.rounds, 0) as rounds, ${amounts
      .map((name) => sql`coalesce(m.${sql.fixed(name)}, 0)::numeric(38, 2) as ${sql.fixed(name)}`)
      .reduce((some, other) => sql`${some}, ${other}`)},
    coalesce(m.bets - m.wins - m.rollbacks, 0)::numeric(38, 2) as ggr
  from (
    select h.party as provider_id, h.currency, ${amounts
      .map(
        (name) => sql`coalesce(sum(case h.id when t.credit_account then t.amount else -t.amount end)
          filter (where ${typeOfMove} = ${typeOf[name]}), 0) / ${name === 'bets' ? 100 : -100}::numeric as ${sql.fixed(name)}`,
      )
      .reduce((some, other) => sql`${some}, ${other}`)}
    from (
      select * from wallet.transfer t
      where t.brand_id = d.brand_id and t.outcome = 'posted' and t.created_at >= day.begins and t.created_at < day.ends
        and (${isOfPlay} or t.type = 'REVERSAL') offset 0
    ) t
    join wallet.account h on h.id in (t.debit_account, t.credit_account) and h.party <> ''
    left join wallet.transfer o on o.id = t.reverses
    group by h.party, h.currency
  ) m full join (
    select provider_id, count(*) as rounds from wallet.round
    where brand_id = d.brand_id and opened_at >= day.begins and opened_at < day.ends group by provider_id
  ) r on r.provider_id = m.provider_id
`

/**
 * The sums of a closed day are those of the ledger, and the days follow one another from the first play on: so what a house
 * account has is what its days come to, and the days that are not closed yet. Operators were told the same.
 */
export const playDays = sqlCheck(
  'playDays',
  {
    kind: 'playDay',
    differences: (keys) => sql`
      select k.key, d.brand_id, d.brand_id || ' ' || d.day as subject, coalesce(due.lines, 'nothing') as expected,
        coalesce(kept.lines, 'nothing') || case when not follows.on then ', behind a day that is missing' else '' end as actual,
        'The sums of a day of play are not those of the ledger.' as explanation
      from ${keys}
      join wallet.reconcilable_play_day d on (d.brand_id, d.day) = (k.key::json ->> 0, (k.key::json ->> 1)::date)
      left join wallet.brand b on b.id = d.brand_id
      cross join lateral (
        select d.day::timestamp at time zone b.time_zone as begins, (d.day + 1)::timestamp at time zone b.time_zone as ends
      ) day
      cross join lateral (select ${written} as lines from (${booked}) s) due
      cross join lateral (select ${written} as lines from (${linesOf('d.sums')}) s) kept
      cross join lateral (
        select exists (select from wallet.reconcilable_play_day o where o.brand_id = d.brand_id and o.day = d.day - 1)
          or not exists (select from wallet.play p where p.brand_id = d.brand_id and p.created_at < day.begins) as on
      ) follows
      where due.lines is distinct from kept.lines or not follows.on
    `,
  },
  {
    kind: 'playDayEvent',
    differences: (keys) => sql`
      select k.key, e.brand_id, e.brand_id || ' ' || e.day as subject, coalesce(kept.lines, 'nothing') as expected,
        coalesce(told.lines, 'nothing') as actual, 'The sums of a day of play are not what its operator was told.' as explanation
      from ${keys}
      join wallet.reconcilable_day_event e on e.aggregate = k.key
      left join wallet.reconcilable_play_day d on (d.brand_id, d.day) = (e.brand_id, e.day::date)
      cross join lateral (
        select ${written} as lines from (
          -- Of very many providers the last ones are told together.
          select case when n.provider_id is null then ${otherProviders}::text else s.provider_id end as provider_id, s.currency,
            sum(s.rounds) as rounds, ${[...amounts, 'ggr']
              .map((name) => sql`sum(s.${sql.fixed(name)}) as ${sql.fixed(name)}`)
              .reduce((some, other) => sql`${some}, ${other}`)}
          from (${linesOf('d.sums')}) s
          left join (${linesOf('e.providers')}) n on (n.provider_id, n.currency) = (s.provider_id, s.currency)
          group by 1, 2
        ) s
      ) kept
      cross join lateral (select ${written} as lines from (${linesOf('e.providers')}) s) told
      where kept.lines is distinct from told.lines
    `,
  },
)
