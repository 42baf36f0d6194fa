import type { LedgerType, PlayKind, WinKind } from '@backoffice/contracts'
import { type Fragment, sql } from '@backoffice/service-runtime'
import { sqlCheck, type TransferFacts } from './check.ts'
import { environmentOf } from './environments.ts'

// What providers of games staked, won and gave back, held against the ledger, round by round. The rules are written down here
// a second time on purpose.

interface PlayWay {
  readonly kind: PlayKind
  readonly winKind: WinKind | null
  readonly type: LedgerType
}

const playWays: readonly PlayWay[] = [
  { kind: 'bet', winKind: null, type: 'BET' },
  { kind: 'win', winKind: 'win', type: 'WIN' },
  { kind: 'win', winKind: 'jackpot', type: 'JACKPOT' },
  { kind: 'win', winKind: 'free_round', type: 'PROMOTION' },
  { kind: 'win', winKind: 'promotion', type: 'PROMOTION' },
  { kind: 'rollback', winKind: null, type: 'ROLLBACK' },
]
const playTypes = [...new Set(playWays.map(({ type }) => type))]

/** Whether a transfer `t` is of a play. It is said of the type alone, so for all others nothing is looked up. */
export const isOfPlay = sql.fixed(`t.type in (${playTypes.map((type) => `'${type}'`).join(', ')})`)
export const isPlay = ({ type }: Pick<TransferFacts, 'type'>): boolean => playTypes.some((one) => one === type)

/** The type of the transfer of a play `p`. */
export const typeOfPlay = sql.fixed(
  `case p.kind ${['bet', 'rollback'].map((kind) => `when '${kind}' then '${kind.toUpperCase()}'`).join(' ')} else case p.win_kind ${playWays
    .filter(({ winKind }) => winKind !== null)
    .map(({ winKind, type }) => `when '${winKind}' then '${type}'`)
    .join(' ')} end end`,
)

/** Whether a play `p` moved money. */
export const moves = sql`(p.outcome = 'posted' and p.amount > 0)`

/** The player's side of a transfer `t` of a play, and that of the house. */
const playerSide = sql`case t.type when 'BET' then t.debit_account else t.credit_account end`
const houseSide = sql`case t.type when 'BET' then t.credit_account else t.debit_account end`

const disagree = 'A transaction of a provider of games and the ledger do not agree (minor units).'

/** What moved money has exactly its transfer, and every transfer of play is of one. */
export const plays = sqlCheck(
  'plays',
  {
    ...{ kind: 'play', plain: true },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject, due.transfer as expected, coalesce(made.transfer, 'no transfer') as actual,
        ${disagree}::text as explanation
      from ${keys}
      join wallet.play p on p.id = k.key
      cross join lateral (
        select case when ${moves} then format('%s of %s, account %s entry %s, provider %s, posted at %s', ${typeOfPlay}, p.amount,
          p.account_id, p.seq, p.provider_id, p.created_at) else 'no transfer: it is ' || p.outcome end as transfer
      ) due
      left join lateral (
        select format('%s of %s, account %s entry %s, provider %s, %s at %s', t.type, t.amount, ${playerSide}, e.seq, h.party,
          t.outcome, t.created_at) as transfer
        from wallet.transfer t
        left join wallet.account h on h.id = ${houseSide}
        left join wallet.entry e on e.transfer_id = t.id and e.account_id = ${playerSide} and e.seq is not null
        where t.brand_id = p.brand_id and t.reference = p.id
      ) made on true
      where case when ${moves} then due.transfer is distinct from made.transfer else made.transfer is not null end
    `,
  },
  {
    ...{ kind: 'transfer', plain: true },
    of: isPlay,
    differences: (keys) => sql`
      select k.key, t.brand_id, t.reference as subject, 'no transfer: there is no such play' as expected,
        format('%s of %s, %s', t.type, t.amount, t.outcome) as actual, ${disagree}::text as explanation
      from ${keys}
      join wallet.transfer t on t.id = k.key
      left join wallet.play p on p.id = t.reference and p.brand_id = t.brand_id
      where p.id is null or t.outcome <> 'posted' or ${typeOfPlay} is distinct from t.type or not ${moves}
    `,
  },
)

/** The bet that a play `p` names, as `b`. */
export const namedBet = sql`
  select b.* from wallet.play b
  where (b.provider_id, b.brand_id, b.kind, b.transaction_id) = (p.provider_id, p.brand_id, 'bet', p.bet_transaction_id)
`

/** Whether a play is of its round `r`: a promotion may do without one, and what was refused has none where none was open. */
export const isOfRound = sql`case
  when p.round_id is null then p.outcome <> 'posted' or coalesce(p.win_kind = 'promotion', false)
  else coalesce((r.provider_id, r.brand_id, r.account_id, r.provider_round_id)
    = (p.provider_id, p.brand_id, p.account_id, p.provider_round_id), false)
end`

/** That the stake of a bet was given back: by its provider, or by the team. */
const isGivenBack = (bet: Fragment) => sql`(
  exists (
    select from wallet.play o
    where (o.provider_id, o.brand_id, o.bet_transaction_id, o.kind, o.outcome)
      = (${bet}.provider_id, ${bet}.brand_id, ${bet}.transaction_id, 'rollback', 'posted')
  ) or exists (
    select from wallet.transfer t join wallet.transfer x on x.reverses = t.id and x.outcome = 'posted'
    where t.brand_id = ${bet}.brand_id and t.reference = ${bet}.id
  )
)`

/** What a win or a rollback says of the bet that it names, which must be of its round; null where it says nothing. */
const bond = sql`case
  when p.outcome not in ('posted', 'noted') or p.kind = 'bet' or p.bet_transaction_id is null then null
  -- A prize needs no bet, whatever it names.
  when p.win_kind = 'promotion' then null
  when b.id is null then 'no such bet'
  when b.account_id <> p.account_id then 'a bet of another player'
  when p.outcome = 'noted' then
    case when b.outcome = 'posted' and not ${isGivenBack(sql`b`)} then 'a bet that was never given back' end
  when b.outcome <> 'posted' then 'a bet that is ' || b.outcome
  when b.round_id is distinct from p.round_id then 'a bet of another round'
  when p.kind = 'rollback' and b.amount <> p.amount then format('a bet of %s, and gives back %s', b.amount, p.amount)
  when p.kind = 'rollback' and p.amount > 0 and not exists (
    select from wallet.transfer t join wallet.transfer x on x.reverses = t.id and x.outcome = 'posted'
    where t.brand_id = b.brand_id and t.reference = b.id and x.brand_id = p.brand_id and x.reference = p.id
  ) then 'a bet, and its transfer reverses another one'
  when p.kind = 'rollback' and exists (
    select from wallet.play o
    where (o.provider_id, o.brand_id, o.bet_transaction_id, o.kind, o.outcome)
      = (p.provider_id, p.brand_id, p.bet_transaction_id, 'rollback', 'posted') and o.id < p.id
  ) then 'a bet that was given back before'
end`

/** What there is of a round `r`. What moved nothing has the number of the entry before it. */
export const contentsOfRound = sql`
  select count(*) filter (where p.kind = 'bet') as bets, count(*) filter (where p.kind = 'rollback') as rollbacks,
    min(p.seq) filter (where p.kind = 'bet') as first_bet, max(p.seq) filter (where p.kind = 'bet') as last_bet,
    min(p.seq - (p.amount > 0)::int) filter (where p.kind = 'win' and p.win_kind <> 'promotion') as first_win,
    max(p.seq) filter (where p.kind = 'win' and p.win_kind <> 'promotion') as last_win
  from wallet.play p where p.round_id = r.id and p.outcome = 'posted'
`

/**
 * Rounds begin with a bet, and win behind it; no bet comes behind their end, and behind that of a void one no win. All bets of
 * a void one were given back, by the provider or by reversals of the team: so its stakes sum to zero.
 */
export const rounds = sqlCheck(
  'rounds',
  {
    ...{ kind: 'round', plain: true },
    differences: (keys) => sql`
      select k.key, r.brand_id, r.id as subject,
        format('a bet, wins behind entry %s, no bet behind entry %s, and %s live bets', o.first_bet, r.closed_seq,
          o.bets - o.rollbacks - o.reversed) as expected,
        format('%s bets of which %s live, the first win behind entry %s, the last bet at entry %s and win at entry %s: it is %s',
          o.bets, r.live_bets, o.first_win, o.last_bet, o.last_win, r.state) as actual,
        'A round and its plays do not agree.' as explanation
      from ${keys}
      join wallet.round r on r.id = k.key
      cross join lateral (
        select c.*, (
          select count(*) from wallet.play p
          join wallet.transfer t on t.brand_id = p.brand_id and t.reference = p.id
          join wallet.transfer x on x.reverses = t.id and x.outcome = 'posted' and x.type = 'REVERSAL'
          where p.round_id = r.id and p.kind = 'bet' and p.outcome = 'posted'
        ) as reversed from (${contentsOfRound}) c
      ) o
      where o.bets = 0 or o.first_win < o.first_bet or o.last_bet > r.closed_seq
        or r.live_bets <> o.bets - o.rollbacks - o.reversed or (r.state = 'void' and (r.live_bets > 0 or o.last_win > r.closed_seq))
    `,
  },
  {
    ...{ kind: 'play', plain: true },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject,
        format('round %s of provider %s, account %s', p.provider_round_id, p.provider_id, p.account_id) as expected,
        coalesce(format('round %s of provider %s, account %s', r.provider_round_id, r.provider_id, r.account_id), 'no round') as actual,
        'A transaction of a provider of games is not of its round.' as explanation
      from ${keys}
      join wallet.play p on p.id = k.key
      left join wallet.round r on r.id = p.round_id
      where not (${isOfRound})
    `,
  },
  {
    ...{ kind: 'play', plain: true },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject, 'a bet that it belongs to' as expected,
        format('%s of bet %s, which is %s', p.kind, p.bet_transaction_id, bond.fault) as actual,
        'A win or a rollback does not belong to the bet that it names (minor units).' as explanation
      from ${keys}
      join wallet.play p on p.id = k.key
      left join lateral (${namedBet}) b on true
      cross join lateral (select ${bond} as fault) bond
      where bond.fault is not null
    `,
  },
)

/** How long a bet that was admitted may be under way to the ledger. */
export const flightSecondsMax = 3
const flight = sql.fixed(`interval '${flightSecondsMax} s'`)

/**
 * Whether a bet `p` of the player `a` was booked in its session `s`, which is purged long after it ended. In the sandbox a game
 * that is played for nothing may stake its money.
 */
export const isOfSession = sql`case when s.id is null then p.created_at < now() - interval '1 day'
  else coalesce(s.player_id = a.owner_id and s.brand_id = p.brand_id and s.game_id = p.game_id and s.created_at <= p.created_at
    and s.expires_at > p.created_at - ${flight} and (s.mode = 'real' or ${environmentOf(sql`p.brand_id`)} = 'sandbox'), false) end`

/** The self-exclusions of a person: from when to when each of them lasts. */
export const exclusionsOf = (player: Fragment) => sql`
  select begins, ends from (
    select c.field, c.next, c.at as begins,
      case when c.field = 'status' then coalesce(lead(c.at) over (partition by c.changed_id, c.field order by c.id), 'infinity')
        when c.next = 'for good' then 'infinity' else c.next::timestamptz end as ends
    from players.reconcilable_person_change c where c.player_id = ${player}
  ) c where c.field = 'selfExclusion' or c.next = 'autoexcluido'
`
/** Whether a bet `p` was booked while an exclusion `x` lasted, and admitted in it. */
export const isExcluded = sql`x.begins <= p.created_at - ${flight} and x.ends > p.created_at`

const bets = (keys: Fragment) => sql`
  ${keys}
  join wallet.play p on p.id = k.key and p.kind = 'bet' and p.outcome = 'posted'
  join wallet.account a on a.id = p.account_id
`

/** Every bet was staked in an open session of the player and the game, and by nobody who was self-excluded. */
export const admissions = sqlCheck(
  'admissions',
  {
    ...{ kind: 'play', plain: true },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject,
        format('a session of %s in %s that is open at %s', a.owner_id, p.game_id, p.created_at) as expected,
        case when s.id is null then 'no session' else
          format('session %s: %s of %s in %s, from %s to %s', s.id, s.mode, s.player_id, s.game_id, s.created_at, s.expires_at)
        end as actual,
        'A bet was not staked in an open session of its player and game.' as explanation
      from ${bets(keys)}
      left join players.reconcilable_session s on s.id = p.session_id
      where not (${isOfSession})
    `,
  },
  {
    ...{ kind: 'play', plain: true },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject, format('no bet of %s from %s to %s', a.owner_id, x.begins, x.ends) as expected,
        format('a bet at %s', p.created_at) as actual, 'A bet was booked during a self-exclusion of the person.' as explanation
      from ${bets(keys)}
      cross join lateral (select x.* from (${exclusionsOf(sql`a.owner_id`)}) x where ${isExcluded} order by begins limit 1) x
    `,
  },
)
