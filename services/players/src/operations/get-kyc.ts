import { operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findPlayer, latestSubmissions } from '../storage/players.ts'
import { publicKyc } from '../views/player.ts'

export const getKyc = query(operations.players.getKyc, async ({ input, scope }, { em }) => {
  const player = await findPlayer(em, { playerId: input.playerId, brandId: scope.brandId })
  return publicKyc(player, await latestSubmissions(em, player.id))
})
