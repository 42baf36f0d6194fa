import { operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { PlayerEntity } from '../storage/entities.ts'
import { teamPlayer } from '../views/player.ts'

/** Ids are time-ordered: a page goes on below the last id of the one before. */
export const listPlayers = query(operations.players.listPlayers, async ({ input }, { em, now }) => {
  const { brandId, externalId, status, kycStatus, before, limit } = input
  const where = {
    brandId,
    ...(externalId === undefined ? {} : { externalId }),
    ...(status === undefined ? {} : { status }),
    ...(kycStatus === undefined ? {} : { kycStatus }),
    ...(before === undefined ? {} : { id: { $lt: before } }),
  }
  const players = await em.find(PlayerEntity, where, { orderBy: { id: 'desc' }, limit })
  return { data: players.map((player) => teamPlayer(player, now)) }
})
