import { fromMinorUnits, operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { isSelfExcluded, limitNow } from '../domain/responsible-gaming.ts'
import { findPlayer } from '../storage/players.ts'

export const getPlayerStanding = query(operations.players.getPlayerStanding, async ({ input, scope }, { em, now }) => {
  const player = await findPlayer(em, { playerId: input.playerId, brandId: scope.brandId })
  const limit = limitNow(player, now)
  return {
    playerId: player.id,
    currency: player.currency,
    status: player.status,
    kycStatus: player.kycStatus,
    selfExcluded: isSelfExcluded(player, now),
    dailyDepositLimit: limit === null ? null : fromMinorUnits(limit),
  }
})
