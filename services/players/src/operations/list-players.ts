import { operations } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { seePlayers } from '../storage/persons.ts'
import { listBrandPlayers } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

export const listPlayers = handle(operations.players.listPlayers, async ({ input }, { db }) => {
  const { limit, ...filter } = input
  const players = await seePlayers(db, await listBrandPlayers(db, filter, limit + 1))
  return toPage(players.map(teamPlayer), limit, ({ id }) => id)
})
