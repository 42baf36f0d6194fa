import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { PlayerEntity } from '../storage/entities.ts'
import { teamPlayer } from '../views/player.ts'

/** The team works across brands: it learns here which brand an id belongs to, and names both from then on. */
export const locatePlayer = query(operations.players.locatePlayer, async ({ input }, { em, now }) => {
  const player = await em.findOne(PlayerEntity, { id: input.id })
  if (player === null) throw new Rejection('PLAYER_NOT_FOUND')
  return teamPlayer(player, now)
})
