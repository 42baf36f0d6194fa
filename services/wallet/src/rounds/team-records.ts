// Records.

import type { IdOf, RoundState } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import type { KnownPlay, Round } from './play.ts'
import { isUndone } from './records.ts'

/** A round with the sums of its plays. */
export interface RoundRow extends Omit<Round, 'accountId' | 'closedSeq' | 'liveBets'> {
  readonly playerId: IdOf<'player'>
  readonly currency: string
  readonly staked: bigint
  readonly won: bigint
  readonly rolledBack: bigint
  readonly plays: number
}

/** Some rounds, as `r`, with the sums of each. */
export const shownRounds = sql`
  select r.id, r.provider_id, r.brand_id, r.provider_round_id, a.owner_id as player_id, r.game_id, r.state, a.currency,
    s.staked, s.won, s.rolled_back, s.plays, r.opened_at, r.closed_at, r.closed_by, r.details_url
  from page r join account a on a.id = r.account_id
  cross join lateral (
    select count(*)::int as plays,
      coalesce(sum(p.amount) filter (where p.kind = 'bet' and p.outcome = 'posted'), 0)::bigint as staked,
      coalesce(sum(p.amount) filter (where p.kind = 'win' and p.outcome = 'posted'), 0)::bigint as won,
      coalesce(sum(p.amount) filter (where p.kind = 'rollback' and p.outcome = 'posted'), 0)::bigint as rolled_back
    from play p where p.round_id = r.id
  ) s
  order by r.opened_at desc, r.id desc
`

export async function findRound(db: ReadDb, roundId: IdOf<'round'>): Promise<RoundRow | undefined> {
  const [round] = await db<RoundRow>`
    with page as (select * from round where id = ${roundId}) ${shownRounds}
  `
  return round
}

/** A place in a list that is the newest first. */
export interface RoundPlace {
  readonly openedAt: Date
  readonly id: string
}

/** Where a list goes on from a round. */
export async function findRoundPlace(db: ReadDb, roundId: IdOf<'round'>): Promise<RoundPlace | undefined> {
  const [place] = await db<RoundPlace>`select opened_at, id from round where id = ${roundId}`
  return place
}

/** What a list of rounds or of plays shows. */
export interface Filter {
  /** Our id of a play, or the provider's of a transaction. */
  readonly transactionId: string | null
  readonly playerId: IdOf<'player'> | null
  readonly brandId: IdOf<'brand'> | null
  /** Of any of these: a page shows one environment, and the wallet knows brands. */
  readonly brandIds: readonly string[] | null
  readonly providerId: IdOf<'provider'> | null
  readonly limit: number
}

interface RoundFilter extends Filter {
  /** Our id, or the provider's. */
  readonly roundId: IdOf<'round'> | null
  readonly transferId: IdOf<'transfer'> | null
  readonly state: RoundState | null
  readonly openedBefore: Date | null
  readonly after: RoundPlace | null
}

/**
 * Each provider with each brand in which it has played, or with the one that is asked for. Each is one step in an index, so
 * what only a provider's own id names is looked up under each of them, and no index is kept for the ids alone.
 */
export const pairsOf = ({ brandId }: Pick<Filter, 'brandId'>) =>
  brandId === null
    ? sql`
        pair as (
          (select provider_id, brand_id from play order by provider_id, brand_id limit 1)
          union all
          select n.provider_id, n.brand_id from pair cross join lateral (
            select p.provider_id, p.brand_id from play p where (p.provider_id, p.brand_id) > (pair.provider_id, pair.brand_id)
            order by p.provider_id, p.brand_id limit 1
          ) n
        )
      `
    : sql`
        playing as (
          (select provider_id from play order by provider_id limit 1)
          union all
          select n.provider_id from playing cross join lateral (
            select p.provider_id from play p where p.provider_id > playing.provider_id order by p.provider_id limit 1
          ) n
        ), pair as (select provider_id, ${brandId}::text as brand_id from playing)
      `

/** Whether a row is of the brands and the provider that a filter names. */
export function isOfPair(table: 'p' | 'pair' | 'r', { brandId, brandIds, providerId }: Filter) {
  const column = (name: string) => sql.fixed(`${table}.${name}`)
  return sql`
    (${brandId}::text is null or ${column('brand_id')} = ${brandId})
    and (${brandIds}::text[] is null or ${column('brand_id')} = any(${brandIds}::text[]))
    and (${providerId}::text is null or ${column('provider_id')} = ${providerId})
  `
}

const filtered = ({ state, openedBefore, after, ...filter }: RoundFilter) => sql`
  ${isOfPair('r', filter)} and (${state}::text is null or r.state = ${state})
  and r.opened_at < coalesce(${openedBefore}::timestamptz, 'infinity')
  and (r.opened_at, r.id) < (coalesce(${after?.openedAt ?? null}::timestamptz, 'infinity'), ${after?.id ?? ''}::text)
`

/** The newest rounds of a filter, from the place of the last page on. What is asked for decides by which index they are read. */
export function listRoundsOf(db: ReadDb, filter: RoundFilter): Promise<RoundRow[]> {
  const { roundId, transactionId, transferId, playerId, state, limit } = filter
  if (roundId !== null || transactionId !== null || transferId !== null) return listNamed(db, filter)
  const rest = sql`${filtered(filter)} order by r.opened_at desc, r.id desc limit ${limit}`
  if (playerId !== null)
    return db<RoundRow>`
      with page as (
        select r.* from account a join round r on r.account_id = a.id where a.owner_id = ${playerId} and ${rest}
      ) ${shownRounds}
    `
  if (state === 'open')
    return db<RoundRow>`with page as (select r.* from round r where r.state = 'open' and ${rest}) ${shownRounds}`
  if (state === 'void')
    return db<RoundRow>`with page as (select r.* from round r where r.state = 'void' and ${rest}) ${shownRounds}`
  const ofPair = (rest: Fragment) => sql`
    pair cross join lateral (
      select r.* from round r where r.brand_id = pair.brand_id and r.provider_id = pair.provider_id and ${rest}
    ) r
  `
  const newestFirst = sql`order by r.opened_at desc, r.id desc`
  return db<RoundRow>`
    with recursive ${pairsOf(filter)}, newest as (
      -- Of so many pairs as the page has rows those with the newest round have all that belong on it.
      select pair.* from ${ofPair(sql`${filtered(filter)} ${newestFirst} limit 1`)}
      where ${isOfPair('pair', filter)} ${newestFirst} limit ${limit}
    ), page as (
      select r.* from newest ${ofPair(rest)} ${newestFirst} limit ${limit}
    ) ${shownRounds}
  `
}

/** The plays of an id: ours of a play or of a request that was refused, or the provider's of a transaction. */
export const playsNamed = (transactionId: string | null) => sql`
  select p.* from play p where p.id = ${transactionId}
  union all
  select p.* from play p where p.request_id = ${transactionId} and p.outcome = 'refused'
  union all
  select p.* from pair cross join (values ('bet'), ('win'), ('rollback')) k (kind) join play p
    on p.provider_id = pair.provider_id and p.brand_id = pair.brand_id and p.kind = k.kind
    and p.transaction_id = ${transactionId}
`

/** A round is named by itself or by a play, which may have been refused for the round. A provider's id may look like ours. */
function listNamed(db: ReadDb, filter: RoundFilter): Promise<RoundRow[]> {
  const { roundId, transactionId, transferId, playerId, limit } = filter
  const isNamed = (by: 'transaction' | 'transfer') => sql`
    exists (
      select from named_play p
      where p.by = ${by} and p.provider_id = r.provider_id and p.brand_id = r.brand_id
        and p.provider_round_id = r.provider_round_id and p.account_id = r.account_id
    )
  `
  return db<RoundRow>`
    with recursive ${pairsOf(filter)}, named_play as (
      select p.*, 'transaction' as by from (${playsNamed(transactionId)}) p
      union all
      -- A correction of the team reverses what a play has moved.
      select p.*, 'transfer' from transfer t left join transfer o on o.id = t.reverses
        join play p on p.id in (t.reference, o.reference)
      where t.id = ${transferId}
    ), named as (
      select r.* from round r where r.id = ${roundId}
      union
      select r.* from pair join round r
        on r.provider_id = pair.provider_id and r.brand_id = pair.brand_id and r.provider_round_id = ${roundId}
      union
      select r.* from named_play p join round r
        on r.provider_id = p.provider_id and r.brand_id = p.brand_id and r.provider_round_id = p.provider_round_id
        and r.account_id = p.account_id
    ), page as (
      select r.* from named r
      where ${filtered(filter)}
        and (${playerId}::text is null or r.account_id = (select id from account where owner_id = ${playerId}))
        and (${roundId}::text is null or ${roundId} in (r.id, r.provider_round_id))
        and (${transactionId}::text is null or ${isNamed('transaction')})
        and (${transferId}::text is null or ${isNamed('transfer')})
      order by r.opened_at desc, r.id desc limit ${limit}
    ) ${shownRounds}
  `
}

export interface OpenRounds {
  readonly providerId: IdOf<'provider'>
  readonly brandId: IdOf<'brand'>
  readonly open: number
  readonly oldestAt: Date
}

/** More than this are not counted: then somebody is looking for long. */
const countedMax = sql`10000`

/** Open rounds by provider and brand, of those that were opened first: those with the oldest first. */
export function countOpen(
  db: ReadDb,
  { openedBefore, limit }: { readonly openedBefore: Date | null; readonly limit: number },
): Promise<OpenRounds[]> {
  return db<OpenRounds>`
    select provider_id, brand_id, count(*)::int as open, min(opened_at) as oldest_at
    from (
      select provider_id, brand_id, opened_at from round
      where state = 'open' and opened_at < coalesce(${openedBefore}::timestamptz, 'infinity')
      order by opened_at limit ${countedMax}
    ) r
    group by 1, 2 order by 4, 1, 2 limit ${limit}
  `
}

/** A play with what has become of it. */
export interface PlayRow
  extends Omit<KnownPlay, 'accountId' | 'endsRound' | 'isFree' | 'reason' | 'seq' | 'settledBy'> {
  readonly playerId: IdOf<'player'>
  readonly currency: string
  readonly roundState: RoundState | null
  readonly roundOpenedAt: Date | null
}

/** Some plays, as `p`, each with its round and its transfer. */
export const shownPlays = sql`
  select p.id, p.provider_id, p.brand_id, p.kind, p.transaction_id, a.player_id, p.round_id,
    r.state as round_state, r.opened_at as round_opened_at, p.provider_round_id, p.outcome, p.amount, a.currency,
    p.bet_transaction_id, p.win_kind, p.is_spin, p.session_id, p.game_id, p.campaign_id, p.details_url, p.provider_time,
    p.refused_with, p.refused_details, p.standing, p.body_digest, p.request_id, p.balance_after, p.created_at, t.id as transfer_id,
    ${isUndone} as is_undone
  from page p
  -- Its limit keeps the planner from going through all accounts.
  cross join lateral (select owner_id as player_id, currency from account where id = p.account_id limit 1) a
  left join round r on r.id = p.round_id
  left join transfer t on t.brand_id = p.brand_id and t.reference = p.id
`

/**
 * The plays of a round in the order in which they were decided, which is that of the account's entries; with those that were
 * refused before it was opened or after it had ended.
 * @param after the last play of the page before; null at the beginning
 */
export function listPlaysOf(
  db: ReadDb,
  roundId: IdOf<'round'>,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<PlayRow[]> {
  // What moved nothing has the number of the entry before it.
  const placeOf = (play: 'p' | 'last') => {
    const column = (name: string) => sql.fixed(`${play}.${name}`)
    return sql`${column('seq')}, ${column('outcome')} <> 'posted' or ${column('amount')} = 0, ${column('created_at')},
      ${column('kind')}, ${column('id')}`
  }
  const place = placeOf('p')
  return db<PlayRow>`
    with recalled as (
      select p.* from play p where p.round_id = ${roundId}
      union all
      select p.* from round r join play p
        on p.account_id = r.account_id and p.provider_round_id = r.provider_round_id and p.round_id is null
        and p.provider_id = r.provider_id and p.brand_id = r.brand_id
      where r.id = ${roundId}
    ), page as materialized (
      select p.* from recalled p left join play last on last.id = ${after}
      where ${after}::text is null or (${place}) > (${placeOf('last')})
      order by ${place} limit ${limit}
    )
    ${shownPlays} order by ${place}
  `
}

/** A place in the plays of a brand, the oldest first. */
export interface PlayPlace {
  readonly createdAt: Date
  readonly id: string
}

export async function findPlayPlace(db: ReadDb, playId: string): Promise<PlayPlace | undefined> {
  const [place] = await db<PlayPlace>`select created_at, id from play where id = ${playId}`
  return place
}

/** A brand's plays of a period, oldest first, after the given place or from the beginning. */
export function listPlaysOfPeriod(
  db: ReadDb,
  { brandId, from, to }: { readonly brandId: IdOf<'brand'>; readonly from: Date; readonly to: Date },
  { after, limit }: { readonly after: PlayPlace | null; readonly limit: number },
): Promise<PlayRow[]> {
  return db<PlayRow>`
    with page as (
      select p.* from play p
      where p.brand_id = ${brandId} and p.created_at < ${to}::timestamptz
        and (p.created_at, p.id) > (${after?.createdAt ?? from}::timestamptz, ${after?.id ?? ''}::text)
      order by p.created_at, p.id limit ${limit}
    )
    ${shownPlays} order by p.created_at, p.id
  `
}

/** Rounds that do not end, by environment. */
export const countOldRounds = (db: ReadDb) =>
  db<{ environment: string; over24h: number; over72h: number }>`
    select b.environment, count(*)::int as over24h,
      count(*) filter (where r.opened_at < now() - interval '72 hours')::int as over72h
    from (
      select brand_id, opened_at from round where state = 'open' and opened_at < now() - interval '24 hours'
      order by opened_at limit ${countedMax}
    ) r join brand b on b.id = r.brand_id
    group by 1
  `

/** Wins that wait for two people, by environment. */
export const countHeldWins = (db: ReadDb) =>
  db<{ environment: string; waiting: number }>`
    select b.environment, count(*)::int as waiting
    from (select brand_id from held_win where released_at is null order by first_at limit ${countedMax}) h
    join brand b on b.id = h.brand_id
    group by 1
  `

/** Wins of the last hour that found no bet to stand on. */
export const countRefusedWins = (db: ReadDb) =>
  db<{ environment: string; code: string; refused: number }>`
    select b.environment, p.refused_with as code, count(*)::int as refused
    from (
      select brand_id, refused_with from play
      where kind = 'win' and outcome = 'refused' and created_at > now() - interval '1 hour'
      order by created_at desc limit ${countedMax}
    ) p join brand b on b.id = p.brand_id
    group by 1, 2
  `
