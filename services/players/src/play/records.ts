import type { IdOf } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { isInCatalogue } from '../games/records.ts'
import { limitNow, type PersonExclusion, type SeenPlayer, seenPlayer } from '../players/player.ts'
import { readPlayers, seePlayers, standingColumns } from '../players/records.ts'
import type { Stake, StakeFacts } from './admission.ts'

/** A stake, and the brand that it is for. */
export interface AskedStake extends Stake {
  readonly brandId: IdOf<'brand'>
  readonly isSandbox: boolean
}

/** What a player is judged by, without who it is. */
type PlayerStanding = Parameters<typeof seenPlayer>[0] & Parameters<typeof limitNow>[0]

interface StakeRow {
  readonly place: bigint
  readonly now: Date
  readonly sessionPlayer: string | null
  readonly sessionGame: string | null
  readonly sessionProvider: string | null
  readonly expiresAt: Date | null
  readonly rtp: string | null
  readonly inCatalogue: boolean | null
  readonly cpfDigest: string | null
  readonly excludedId: string | null
  readonly excludedStatus: PersonExclusion['status'] | null
  readonly excludedFrom: Date | null
  readonly excludedUntil: Date | null
}
/** The columns of a player are null where there is none. */
type Row = StakeRow & (PlayerStanding | { readonly id: null })

const stakeColumns = 'session_id text, player_id text, brand_id text, game_id text, is_sandbox bool'

/**
 * What each stake is judged by, in order, all of it of one moment of PostgreSQL's clock: one statement for as many stakes as
 * wait, and nothing of who the players are. A self-exclusion of the person is found by the digest that is stored with the
 * player; while a new master key comes in that is not enough, and their CPFs are looked up.
 */
export async function readStakes(db: ReadDb, stakes: readonly AskedStake[]): Promise<StakeFacts[]> {
  const rows = await db<Row>`
    select asked.place, now() as now, s.player_id as session_player, s.game_id as session_game,
      served.provider_id as session_provider, s.expires_at, g.rtp::text as rtp,
      ${isInCatalogue({ brandId: sql.fixed('asked.brand_id'), isSandbox: sql.fixed('asked.is_sandbox') })} as in_catalogue,
      ${standingColumns}, p.cpf_digest, e.id as excluded_id, e.status as excluded_status,
      e.self_excluded_from as excluded_from, e.self_excluded_until as excluded_until
    from ${sql.unnest('asked', stakes, stakeColumns)}
    left join game_session s on s.id = asked.session_id and s.brand_id = asked.brand_id
    left join game_provider served on served.game_id = s.game_id
    left join game g on g.id = asked.game_id
    left join player p on p.id = asked.player_id and p.brand_id = asked.brand_id
    left join player e on e.brand_id = p.brand_id and e.cpf_digest = p.cpf_digest and e.id <> p.id
      -- As the index says it.
      and (e.status = 'autoexcluido' or e.self_excluded_from is not null)
  `
  const byPlace = Map.groupBy(rows, ({ place }) => Number(place))
  const found = stakes.map((_, index) => byPlace.get(index + 1) as [Row, ...Row[]])
  const isUnsure = found.some(([{ id, cpfDigest }]) => id !== null && !db.vault.findsAll(cpfDigest))
  const lookedUp = isUnsure ? await seePlayers(db, await readPlayers(db, stakes)) : []
  return found.map((rows, index) => factsOf(rows, lookedUp[index] ?? seenIn(rows)))
}

/** @param rows a row for each self-exclusion of the person */
function seenIn(rows: readonly [Row, ...Row[]]): SeenPlayer<PlayerStanding> | undefined {
  const [row] = rows
  return row.id === null ? undefined : seenPlayer(row, rows.flatMap(exclusionIn), row.now)
}

function exclusionIn({ excludedId, excludedStatus, excludedFrom, excludedUntil }: Row): PersonExclusion[] {
  if (excludedId === null || excludedStatus === null) return []
  return [{ id: excludedId, status: excludedStatus, selfExcludedFrom: excludedFrom, selfExcludedUntil: excludedUntil }]
}

function factsOf([row]: readonly [Row, ...Row[]], player: SeenPlayer<PlayerStanding> | undefined): StakeFacts {
  const { sessionPlayer, sessionGame, sessionProvider: providerId, expiresAt, rtp, inCatalogue, now } = row
  const hasSession = sessionPlayer !== null && sessionGame !== null && expiresAt !== null
  return {
    session: hasSession ? { playerId: sessionPlayer, gameId: sessionGame, providerId, expiresAt } : undefined,
    game: rtp === null ? undefined : { rtp, inCatalogue: inCatalogue === true },
    player: player && {
      ...{ status: player.status, kycStatus: player.kycStatus },
      dailyLimit: limitNow(player, player.seenAt),
    },
    now,
  }
}

export interface ProviderSession {
  readonly playerId: IdOf<'player'>
  readonly gameId: string
  readonly expiresAt: Date
  readonly isOpen: boolean
}

/** A session of a brand in a game of a provider. */
export async function findProviderSession(
  db: ReadDb,
  asked: { readonly sessionId: string; readonly brandId: IdOf<'brand'>; readonly providerId: IdOf<'provider'> },
): Promise<ProviderSession | undefined> {
  const [session] = await db<ProviderSession>`
    select s.player_id, s.game_id, s.expires_at, now() < s.expires_at as is_open
    from game_session s join game_provider served on served.game_id = s.game_id
    where s.id = ${asked.sessionId} and s.brand_id = ${asked.brandId} and served.provider_id = ${asked.providerId}
  `
  return session
}
