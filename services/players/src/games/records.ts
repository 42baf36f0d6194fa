import type { Game, GameSession, IdOf, operations, Reply, Scope } from '@backoffice/contracts'
import { type Db, type Fragment, type ReadDb, sql, type WithTimes } from '@backoffice/service-runtime'

export type CatalogueGame = Omit<Game, 'thumbnailUrl'>

const gameColumns = sql`id, name, provider, category, rtp, demo`

/** The brand whose catalogue is meant, and whether it is one of the sandbox, as pieces of a statement. */
interface AskedBrand {
  readonly brandId: Fragment
  readonly isSandbox: Fragment
}

/**
 * Whether the game `g` is in a brand's catalogue: unless it was taken out of it. The game that stakes the sandbox's money is
 * there in the sandbox alone, once somebody serves it.
 */
export const isInCatalogue = ({ brandId, isSandbox }: AskedBrand) => sql`(
  not exists (select from brand_game b where b.brand_id = ${brandId} and b.game_id = g.id and not b.available)
  and (not g.stakes_sandbox_wallet
    or (${isSandbox} and exists (select from game_provider served where served.game_id = g.id)))
)`

type BrandOfCatalogue = Pick<Scope, 'brandId' | 'environment'>

const inCatalogueOf = ({ brandId, environment }: BrandOfCatalogue) =>
  isInCatalogue({ brandId: sql`${brandId}`, isSandbox: sql`${environment === 'sandbox'}::boolean` })

/** The games of a brand's catalogue, in its order. */
export function listCatalogue(db: ReadDb, brand: BrandOfCatalogue): Promise<CatalogueGame[]> {
  return db<CatalogueGame>`select ${gameColumns} from game g where ${inCatalogueOf(brand)} order by position, id`
}

export interface FoundGame {
  readonly id: string
  /** It stakes the money of the sandbox's wallets, and has no fictitious balance. */
  readonly stakesSandboxWallet: boolean
}

/** Undefined when it is unknown, or not in this brand's catalogue. */
export async function findCatalogueGame(
  db: ReadDb,
  { gameId, brand }: { readonly gameId: string; readonly brand: BrandOfCatalogue },
): Promise<FoundGame | undefined> {
  const [game] = await db<FoundGame>`
    select id, stakes_sandbox_wallet from game g where id = ${gameId} and ${inCatalogueOf(brand)}
  `
  return game
}

type ServedGame = Reply<typeof operations.players.listGameProviders>['data'][number]

/** All games, whether or not they are in any brand's catalogue. */
export function listProviders(db: ReadDb): Promise<ServedGame[]> {
  return db<ServedGame>`
    select g.id as game_id, g.name, g.provider as studio, g.rtp::text as rtp, served.provider_id
    from game g left join game_provider served on served.game_id = g.id order by g.position, g.id
  `
}

/** @param providerId null: nobody. @returns false when there is no such game */
export async function setProvider(
  db: Db,
  { gameId, providerId }: { readonly gameId: string; readonly providerId: IdOf<'provider'> | null },
): Promise<boolean> {
  const rows = await db`select from game where id = ${gameId}`
  if (rows.length === 0) return false
  if (providerId === null) await db`delete from game_provider where game_id = ${gameId}`
  else
    await db`
      insert into game_provider (game_id, provider_id) values (${gameId}, ${providerId})
      on conflict (game_id) do update set provider_id = excluded.provider_id
    `
  return true
}

/** False when there is no such game. */
export async function setAvailability(
  db: Db,
  entry: { readonly brandId: IdOf<'brand'>; readonly gameId: string; readonly available: boolean },
): Promise<boolean> {
  const { brandId, gameId, available } = entry
  const rows = await db`
    insert into brand_game (brand_id, game_id, available)
    select ${brandId}::text, id, ${available}::boolean from game where id = ${gameId}
    on conflict (brand_id, game_id) do update set available = excluded.available returning true
  `
  return rows.length > 0
}

export interface GameSessionRecord {
  readonly id: string
  readonly playerId: IdOf<'player'>
  readonly brandId: IdOf<'brand'>
  readonly gameId: string
  readonly mode: GameSession['mode']
  /** A demonstration's address without its token; for a provider's session `sha256:` and the digest of its URL. */
  readonly gameUrl: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Of a demonstration. */
  readonly tokenSha256: Buffer | null
  /** Of a demonstration with a fictitious balance, in minor units. */
  readonly demoBalance: bigint | null
}

const sessionColumns = `
  id text, player_id text, brand_id text, game_id text, mode text, game_url text, created_at timestamptz,
  expires_at timestamptz, token_sha256 bytea, demo_balance bigint
`

export const insertSessions = (sessions: readonly GameSessionRecord[]): Fragment => sql`
  insert into game_session ${sql.rows('new', sessions, sessionColumns)}
  -- The foreign key locks the players' rows: in id order, as all who lock them do.
  order by player_id
`

type Shown = Reply<typeof operations.players.listGameSessions>['data'][number]
export type ListedSession = WithTimes<Shown, 'createdAt' | 'expiresAt'>

/** Comes after every id. */
const afterAllIds = '~'

/** A player's sessions, newest first: ids are ordered by time. */
export function listSessions(
  db: ReadDb,
  { playerId, before = afterAllIds, limit }: { playerId: IdOf<'player'>; before?: string | undefined; limit: number },
): Promise<ListedSession[]> {
  return db<ListedSession>`
    select s.id, s.player_id, s.brand_id, s.game_id, g.name as game_name, s.mode, s.created_at, s.expires_at
    from game_session s left join game g on g.id = s.game_id
    where s.player_id = ${playerId} and s.id < ${before}
    order by s.id desc limit ${limit}
  `
}
