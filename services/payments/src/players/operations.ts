import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { playerRows } from '@backoffice/team-desk'
import { forgetDestinations as forget } from '../withdrawals/destination.ts'
import { findOpenRecords, playerTables } from './records.ts'

export const readOpenRecords = handle(operations.payments.readOpenRecords, async ({ input, scope }, { db }) => {
  const { lastChangeAt, ...open } = await findOpenRecords(db, { brandId: scope.brandId, playerId: input.playerId })
  return { ...open, lastChangeAt: lastChangeAt?.toISOString() ?? null }
})

export const exportPlayer = handle(operations.payments.exportPlayer, ({ input }, { db }) =>
  playerRows(db, playerTables, input),
)

/** A command of players' outbox, which no one can refuse: players has seen that no withdrawal is open. */
export const forgetDestinations = handle(operations.payments.forgetDestinations, async ({ input, scope }, { db }) => {
  await forget(db, { brandId: scope.brandId, playerId: input.playerId })
  return { playerId: input.playerId }
})
