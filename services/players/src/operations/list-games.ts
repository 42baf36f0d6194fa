import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { listCatalogue } from '../storage/games.ts'

/** @param gamesUrl where players' browsers reach the public games, which serve the thumbnails */
export const listGames = (gamesUrl: string) =>
  handle(operations.players.listGames, async ({ scope }, { db }) => {
    const games = await listCatalogue(db, scope.brandId)
    return { data: games.map((game) => ({ ...game, thumbnailUrl: `${gamesUrl}/thumbnails/${game.id}.svg` })) }
  })
