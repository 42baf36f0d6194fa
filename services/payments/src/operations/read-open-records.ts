import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findOpenRecords } from '../storage/player-records.ts'

export const readOpenRecords = handle(operations.payments.readOpenRecords, async ({ input }, { db }) => {
  const { lastChangeAt, ...open } = await findOpenRecords(db, input.playerId)
  return { ...open, lastChangeAt: lastChangeAt?.toISOString() ?? null }
})
