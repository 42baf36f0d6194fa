import { operations } from '@backoffice/contracts'
import { handle, withIsoTimes } from '@backoffice/service-runtime'
import { findWaitingPlayers } from '../storage/kyc-submissions.ts'

export const kycQueue = handle(operations.players.kycQueue, async ({ input: { brandId = null, limit } }, { db }) => {
  const waiting = await findWaitingPlayers(db, { brandId, limit })
  return { data: waiting.map(withIsoTimes) }
})
