import type { IdOf } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import {
  type KnownPlay,
  type Play,
  type PlayChanges,
  type PlayMessage,
  type PlayState,
  playColumns,
  playKey,
  type Round,
  type RoundContents,
  roundKey,
  type Settlement,
  type Unopened,
  type WinLimit,
} from './play.ts'

/** A message with whose it is: what the statements look for. */
export interface AskedPlay {
  readonly brandId: IdOf<'brand'>
  readonly playerId: IdOf<'player'>
  readonly play: PlayMessage
}

const endOfRound =
  'state text, closed_at timestamptz, closed_by text, closed_seq bigint, details_url text, live_bets int' as const
export const roundColumns = `
  id text, provider_id text, brand_id text, provider_round_id text, account_id bigint, game_id text,
  opened_at timestamptz, state text, closed_at timestamptz, closed_by text, closed_seq bigint, details_url text,
  live_bets int
` as const

/**
 * What is stored about the plays of a batch, and about the bets whose transfers it reverses. Each statement is sent only if
 * the batch has something for it, and none reads a round as a whole but where the team voids it.
 */
export async function readPlays(
  db: ReadDb,
  asked: readonly AskedPlay[],
  reverses: readonly string[],
): Promise<PlayState> {
  const [plays, { rounds, ...found }, contents, stakes] = await Promise.all([
    readKnownPlays(db, eachOnce(asked.flatMap(keysOf))),
    readRounds(db, asked),
    readContents(db, asked),
    readStakes(db, reverses),
  ])
  return {
    // What was read of a play for itself says more, such as what settled it: it comes last.
    plays: new Map(
      [...[...contents.values()].flatMap(({ bets }) => bets), ...plays].map((play) => [playKey(play), play]),
    ),
    rounds: new Map([...rounds, ...stakes.map(({ round }) => [roundKey(round), round] as const)]),
    ...found,
    contents,
    stakes: new Map(stakes.map(({ bet }) => [bet.transferId ?? '', bet])),
  }
}

interface AskedKey extends Pick<Play, 'providerId' | 'brandId' | 'kind' | 'transactionId'> {
  /** Whether it matters what settled it. */
  readonly settles: boolean
}

/** A play that several messages of a batch need is read once, and with what settled it if one of them asks for that. */
function eachOnce(keys: readonly AskedKey[]): AskedKey[] {
  const once = new Map<string, AskedKey>()
  for (const key of keys) {
    const name = playKey(key)
    once.set(name, { ...key, settles: key.settles || once.get(name)?.settles === true })
  }
  return [...once.values()]
}

/** The plays that decide a message: its own, and those that it names. */
function keysOf({ brandId, play }: AskedPlay): AskedKey[] {
  const key = (kind: Play['kind'], transactionId: string, settles = false) => ({
    ...{ providerId: play.providerId, brandId, kind, transactionId, settles },
  })
  switch (play.message) {
    case 'bet':
      return [key('bet', play.transactionId), ...(play.win === null ? [] : [key('win', play.transactionId)])]
    case 'win':
      return [
        key('win', play.transactionId),
        ...(play.betTransactionId === null ? [] : [key('bet', play.betTransactionId)]),
      ]
    case 'rollback':
      return [
        key('rollback', play.transactionId),
        key('bet', play.betTransactionId, true),
        key('win', play.betTransactionId),
      ]
    case 'close':
    case 'end':
      return []
    default:
      return play satisfies never
  }
}

/** Whether the stake of `p`, which `t` posted, was given back: by a rollback, which may have had no money, or by a reversal. */
export const isUndone = sql`
  p.kind = 'bet' and p.outcome = 'posted' and (
    exists (
      select from play b where b.provider_id = p.provider_id and b.brand_id = p.brand_id
        and b.bet_transaction_id = p.transaction_id and b.kind = 'rollback' and b.outcome = 'posted'
    ) or exists (select from transfer b where b.reverses = t.id and b.outcome = 'posted')
  )
`
const settlement = sql`select w.transaction_id, w.amount from play w where`
const isSettling = sql`w.kind = 'win' and w.outcome = 'posted' and w.win_kind <> 'promotion'`

type KnownRow = Omit<KnownPlay, 'settledBy'> & {
  readonly settledById: string | null
  readonly settledAmount: bigint | null
}

async function readKnownPlays(db: ReadDb, keys: readonly AskedKey[]): Promise<KnownPlay[]> {
  if (keys.length === 0) return []
  const rows = await db<KnownRow>`
    select ${sql.columns(playColumns, 'p')}, t.id as transfer_id, ${isUndone} as is_undone,
      named.transaction_id as settled_by_id, named.amount as settled_amount
    from ${sql.unnest('asked', keys, 'provider_id text, brand_id text, kind text, transaction_id text, settles bool')}
    join play p on p.provider_id = asked.provider_id and p.brand_id = asked.brand_id and p.kind = asked.kind
      and p.transaction_id = asked.transaction_id
    left join transfer t on t.brand_id = p.brand_id and t.reference = p.id and t.outcome = 'posted'
    left join lateral (
      ${settlement} w.provider_id = p.provider_id and w.brand_id = p.brand_id
        and w.bet_transaction_id = p.transaction_id and ${isSettling} limit 1
    ) named on asked.settles
  `
  return rows.map(({ settledById, settledAmount, ...play }) => {
    const settledBy: Settlement | null =
      settledById === null ? null : { transactionId: settledById, amount: settledAmount ?? 0n }
    return { ...play, settledBy }
  })
}

/** The id of a win, also of one without money: it may be of one that was held with some. */
const winOf = (play: PlayMessage): string | null =>
  play.message === 'win' || (play.message === 'bet' && play.win !== null) ? play.transactionId : null

type RoundsState = Pick<PlayState, 'unnamedWins' | 'winLimits'> & {
  readonly rounds: Map<string, Round>
  readonly unopened: Map<string, Unopened>
}

/** The round of each message, and what limits its win. */
async function readRounds(db: ReadDb, asked: readonly AskedPlay[]): Promise<RoundsState> {
  const named = asked
    .map(({ brandId, playerId, play }) => ({
      ...{ brandId, playerId, providerId: play.providerId, providerRoundId: play.providerRoundId, winId: winOf(play) },
      isWin: play.message === 'win',
      isRollback: play.message === 'rollback',
    }))
    .filter(({ providerRoundId, winId }) => providerRoundId !== null || winId !== null)
  const [rounds, unopened] = [new Map<string, Round>(), new Map<string, Unopened>()]
  const [unnamedWins, winLimits] = [new Map<string, Settlement>(), new Map<string, WinLimit>()]
  if (named.length === 0) return { rounds, unopened, unnamedWins, winLimits }
  const ofRound = sql`
    select from play p where p.account_id = a.id and p.provider_id = asked.provider_id
      and p.provider_round_id = asked.provider_round_id and p.kind = 'bet' and p.round_id is null
  `
  type Row = Omit<Round, 'id' | 'accountId'> & {
    readonly id: string | null
    readonly place: bigint
    readonly askedAccount: bigint
    readonly isRefused: boolean | null
    readonly isVoided: boolean | null
    readonly wonBy: string | null
    readonly won: bigint | null
    readonly maxWin: bigint | null
    readonly heldOf: bigint | null
    readonly heldRound: string | null
    readonly held: bigint | null
    readonly isReleased: boolean
  }
  const rows = await db<Row>`
    select ${sql.columns(roundColumns, 'r')}, asked.place, a.id as asked_account,
      case when asked.is_win and r.id is null then exists (${ofRound} and p.outcome = 'refused') end as is_refused,
      case when asked.is_win and r.id is null then exists (${ofRound} and p.outcome = 'voided') end as is_voided,
      unnamed.transaction_id as won_by, unnamed.amount as won,
      l.max_win, h.account_id as held_of, h.provider_round_id as held_round,
      h.amount as held, h.released_at is not null as is_released
    from ${sql.unnest('asked', named, 'brand_id text, player_id text, provider_id text, provider_round_id text, win_id text, is_win bool, is_rollback bool')}
    join account a on a.brand_id = asked.brand_id and a.owner_id = asked.player_id
    left join round r on r.provider_id = asked.provider_id and r.brand_id = asked.brand_id
      and r.provider_round_id = asked.provider_round_id and r.account_id = a.id
    left join lateral (
      ${settlement} w.round_id = r.id and w.bet_transaction_id is null and ${isSettling} limit 1
    ) unnamed on asked.is_rollback
    left join win_limit l on l.provider_id = asked.provider_id and l.brand_id = asked.brand_id and asked.win_id is not null
    left join held_win h on h.provider_id = asked.provider_id and h.brand_id = asked.brand_id
      and h.transaction_id = asked.win_id
  `
  for (const { place, askedAccount: accountId, isRefused, isVoided, wonBy, won, ...row } of rows) {
    const { id, maxWin, heldOf, heldRound: providerRoundId, held, isReleased, ...round } = row
    const one = named[Number(place) - 1] as (typeof named)[number]
    const key = roundKey({ ...one, accountId })
    if (wonBy !== null) unnamedWins.set(key, { transactionId: wonBy, amount: won ?? 0n })
    if (id !== null) rounds.set(key, { ...round, id, accountId })
    else if (isRefused !== null && isVoided !== null) unopened.set(key, { isRefused, isVoided })
    if (one.winId !== null)
      winLimits.set(playKey({ ...one, kind: 'win', transactionId: one.winId }), {
        maxWin,
        held:
          heldOf === null || held === null ? null : { accountId: heldOf, providerRoundId, amount: held, isReleased },
      })
  }
  return { rounds, unopened, unnamedWins, winLimits }
}

/** More bets than these are not given back at once: the team closes such a round. */
export const voidedBetsMax = 5_000

async function readContents(db: ReadDb, asked: readonly AskedPlay[]): Promise<Map<string, RoundContents>> {
  const contents = new Map<string, RoundContents>()
  for (const { brandId, playerId, play } of asked) {
    if (play.message !== 'end' || play.state !== 'void') continue
    const bets = await db<Omit<KnownPlay, 'settledBy' | 'isUndone'> & { readonly isWon: boolean }>`
      select ${sql.columns(playColumns, 'p')}, t.id as transfer_id,
        exists (select from play w where w.round_id = r.id and ${isSettling}) as is_won
      from account a join round r on r.provider_id = ${play.providerId} and r.brand_id = a.brand_id
        and r.provider_round_id = ${play.providerRoundId} and r.account_id = a.id
      join play p on p.round_id = r.id and p.kind = 'bet' and p.outcome = 'posted'
      left join transfer t on t.brand_id = p.brand_id and t.reference = p.id and t.outcome = 'posted'
      where a.brand_id = ${brandId} and a.owner_id = ${playerId} and not (${isUndone})
      order by p.seq, p.id limit ${voidedBetsMax}
    `
    const [first] = bets
    if (first !== undefined)
      contents.set(roundKey(first), {
        isWon: first.isWon,
        bets: bets.map(({ isWon: _, ...bet }) => ({ ...bet, isUndone: false, settledBy: null })),
      })
  }
  return contents
}

/** The bets behind transfers that are to be reversed, with their rounds. */
async function readStakes(
  db: ReadDb,
  transferIds: readonly string[],
): Promise<{ readonly bet: KnownPlay; readonly round: Round }[]> {
  if (transferIds.length === 0) return []
  const rows = await db<Play & { readonly transferId: string }>`
    select ${sql.columns(playColumns, 'p')}, t.id as transfer_id
    from transfer t join play p on p.id = t.reference
    where t.id = any(${transferIds}::text[]) and t.type = 'BET' and t.outcome = 'posted'
  `
  if (rows.length === 0) return []
  const rounds = await db<Round>`
    select ${sql.columns(roundColumns)} from round where id = any(${rows.map(({ roundId }) => roundId)}::text[])
  `
  return rows.flatMap((row) => {
    const round = rounds.find(({ id }) => id === row.roundId)
    return round === undefined ? [] : [{ bet: { ...row, isUndone: false, settledBy: null }, round }]
  })
}

/**
 * The parts of the statement that writes a batch; undefined where no play is in it. They go by key, so that two
 * batches cannot deadlock.
 */
export function writtenPlays({ plays, rounds, heldWins }: PlayChanges): Fragment | undefined {
  if (plays.length + rounds.length + heldWins.length === 0) return undefined
  return sql`
    , kept_round as (
      insert into round ${sql.rows('r', rounds, roundColumns)}
      order by r.id
      on conflict (id) do update set ${sql.assignments('excluded', endOfRound)}
    ), new_play as (
      insert into play ${sql.rows('p', plays, playColumns)}
      order by p.provider_id, p.brand_id, p.kind, p.transaction_id
    ), held_win as (
      insert into held_win ${sql.rows('h', heldWins, heldWinColumns)}
      order by h.provider_id, h.brand_id, h.transaction_id
      on conflict do nothing
    )
  `
}

const heldWinColumns = `
  provider_id text, brand_id text, transaction_id text, account_id bigint, provider_round_id text, amount bigint,
  first_at timestamptz
` as const

/** How many rounds of players are open, by player in the order asked for. */
export async function countOpenRounds(
  db: ReadDb,
  players: readonly Pick<AskedPlay, 'brandId' | 'playerId'>[],
): Promise<number[]> {
  const rows = await db<{ open: number }>`
    select (
      select count(*)::int from account a join round r on r.account_id = a.id and r.state = 'open'
      where a.brand_id = asked.brand_id and a.owner_id = asked.player_id
    ) as open
    from ${sql.unnest('asked', players, 'brand_id text, player_id text')} order by asked.place
  `
  return rows.map(({ open }) => open)
}
