import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findWaitingPlayers } from '../storage/kyc-submissions.ts'

export const kycQueue = handle(operations.players.kycQueue, async ({ input: { brandId = null, limit } }, { db }) => {
  const waiting = await findWaitingPlayers(db, { brandId, limit })
  return { data: waiting.map((player) => ({ ...player, waitingSince: player.waitingSince.toISOString() })) }
})
