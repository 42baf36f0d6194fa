import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findOpenRecords } from '../storage/player-records.ts'

export const readOpenRecords = handle(operations.payments.readOpenRecords, async ({ input, scope }, { db }) => {
  const { lastChangeAt, ...open } = await findOpenRecords(db, { brandId: scope.brandId, playerId: input.playerId })
  return { ...open, lastChangeAt: lastChangeAt?.toISOString() ?? null }
})
