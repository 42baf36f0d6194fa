import { type Game, Rejection } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

export type CatalogueGame = Omit<Game, 'thumbnailUrl'>

const inCatalogue = (brandId: string) => sql`
  not exists (select from brand_game b where b.brand_id = ${brandId} and b.game_id = g.id and not b.available)
`

/** The games of a brand's catalogue, in its order. */
export async function listCatalogue(connection: Sql, brandId: string): Promise<CatalogueGame[]> {
  const { rows } = await sql<CatalogueGame>`
    select id, name, provider, category, rtp::text, demo from game g where ${inCatalogue(brandId)} order by position, id
  `.execute(connection)
  return rows
}

/** @throws {Rejection} GAME_NOT_FOUND: unknown, or not in this brand's catalogue */
export async function requireGame(
  connection: Sql,
  { gameId, brandId }: { readonly gameId: string; readonly brandId: string },
): Promise<CatalogueGame> {
  const { rows } = await sql<CatalogueGame>`
    select id, name, provider, category, rtp::text, demo from game g where id = ${gameId} and ${inCatalogue(brandId)}
  `.execute(connection)
  if (rows[0] === undefined) throw new Rejection('GAME_NOT_FOUND')
  return rows[0]
}

/** @throws {Rejection} GAME_NOT_FOUND */
export async function setAvailability(
  connection: Sql,
  entry: { readonly brandId: string; readonly gameId: string; readonly available: boolean },
): Promise<void> {
  const { rows } = await sql`
    insert into brand_game (brand_id, game_id, available)
    select ${entry.brandId}, id, ${entry.available} from game where id = ${entry.gameId}
    on conflict (brand_id, game_id) do update set available = excluded.available returning true
  `.execute(connection)
  if (rows.length === 0) throw new Rejection('GAME_NOT_FOUND')
}
