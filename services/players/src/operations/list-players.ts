import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { listBrandPlayers } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

export const listPlayers = handle(operations.players.listPlayers, async ({ input }, { db, now }) => {
  const { limit, ...filter } = input
  const players = await listBrandPlayers(db, filter, limit)
  return { data: players.map((player) => teamPlayer(player, now)) }
})
