import type { Game } from '@backoffice/contracts'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'

export type CatalogueGame = Omit<Game, 'thumbnailUrl'>

const columns = sql`id, name, provider, category, rtp, demo`

/** A game is in every brand's catalogue unless it was taken out of it. */
const inCatalogue = (brandId: string) => sql`
  not exists (select from brand_game b where b.brand_id = ${brandId} and b.game_id = g.id and not b.available)
`

/** The games of a brand's catalogue, in its order. */
export function listCatalogue(db: ReadDb, brandId: string): Promise<CatalogueGame[]> {
  return db<CatalogueGame>`select ${columns} from game g where ${inCatalogue(brandId)} order by position, id`
}

/** Undefined when it is unknown, or not in this brand's catalogue. */
export async function findCatalogueGame(
  db: ReadDb,
  { gameId, brandId }: { readonly gameId: string; readonly brandId: string },
): Promise<CatalogueGame | undefined> {
  const [game] = await db<CatalogueGame>`
    select ${columns} from game g where id = ${gameId} and ${inCatalogue(brandId)}
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
