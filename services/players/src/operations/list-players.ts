import { operations } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { listBrandPlayers } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

export const listPlayers = handle(operations.players.listPlayers, async ({ input }, { db, now }) => {
  const { limit, ...filter } = input
  const players = await listBrandPlayers(db, filter, limit + 1)
  return toPage(
    players.map((player) => teamPlayer(player, now)),
    limit,
    ({ id }) => id,
  )
})
