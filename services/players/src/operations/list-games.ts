import { operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { listCatalogue } from '../storage/games.ts'

/** @param gamesUrl where the thumbnails are served, known once the games' listener runs */
export const listGames = (gamesUrl: () => string) =>
  query(operations.players.listGames, async ({ scope }, { sql }) => {
    const games = await listCatalogue(sql, scope.brandId)
    return { data: games.map((game) => ({ ...game, thumbnailUrl: `${gamesUrl()}/thumbnails/${game.id}.svg` })) }
  })
