import type { Game, GameSession, operations, Reply } from '@backoffice/contracts'
import { type Db, type Fragment, type ReadDb, sql, type WithTimes } from '@backoffice/service-runtime'

export type CatalogueGame = Omit<Game, 'thumbnailUrl'>

const gameColumns = sql`id, name, provider, category, rtp, demo`

/** A game is in every brand's catalogue unless it was taken out of it. */
const inCatalogue = (brandId: string) => sql`
  not exists (select from brand_game b where b.brand_id = ${brandId} and b.game_id = g.id and not b.available)
`

/** The games of a brand's catalogue, in its order. */
export function listCatalogue(db: ReadDb, brandId: string): Promise<CatalogueGame[]> {
  return db<CatalogueGame>`select ${gameColumns} from game g where ${inCatalogue(brandId)} order by position, id`
}

/** Undefined when it is unknown, or not in this brand's catalogue. */
export async function findCatalogueGame(
  db: ReadDb,
  { gameId, brandId }: { readonly gameId: string; readonly brandId: string },
): Promise<CatalogueGame | undefined> {
  const [game] = await db<CatalogueGame>`
    select ${gameColumns} from game g where id = ${gameId} and ${inCatalogue(brandId)}
  `
  return game
}

/** False when there is no such game. */
export async function setAvailability(
  db: Db,
  entry: { readonly brandId: string; readonly gameId: string; readonly available: boolean },
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
  readonly playerId: string
  readonly brandId: string
  readonly gameId: string
  readonly mode: GameSession['mode']
  /** A demonstration's address without its token; for a provider's session `sha256:` and the digest of its URL. */
  readonly gameUrl: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Of a demonstration, as its fictitious balance in minor units. */
  readonly tokenSha256: Buffer | null
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
  { playerId, before = afterAllIds, limit }: { playerId: string; before?: string | undefined; limit: number },
): Promise<ListedSession[]> {
  return db<ListedSession>`
    select s.id, s.player_id, s.brand_id, s.game_id, g.name as game_name, s.mode, s.created_at, s.expires_at
    from game_session s left join game g on g.id = s.game_id
    where s.player_id = ${playerId} and s.id < ${before}
    order by s.id desc limit ${limit}
  `
}
