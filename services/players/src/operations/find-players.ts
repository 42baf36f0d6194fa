import { operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { PlayerEntity } from '../storage/entities.ts'
import { publicPlayer } from '../views/player.ts'

export const findPlayers = query(operations.players.findPlayers, async ({ input, scope }, { em }) => {
  const players = await em.find(PlayerEntity, { brandId: scope.brandId, externalId: input.externalId })
  return { data: players.map(publicPlayer) }
})
