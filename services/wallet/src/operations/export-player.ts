import { operations } from '@backoffice/contracts'
import { handle, playerRows } from '@backoffice/service-runtime'
import { playerTables } from '../storage/player-tables.ts'

export const exportPlayer = handle(operations.wallet.exportPlayer, ({ input }, { db }) =>
  playerRows(db, playerTables, input),
)
