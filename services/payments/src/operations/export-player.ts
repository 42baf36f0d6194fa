import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { playerRows } from '@backoffice/team-desk'
import { playerTables } from '../storage/player-tables.ts'

export const exportPlayer = handle(operations.payments.exportPlayer, ({ input }, { db }) =>
  playerRows(db, playerTables, input),
)
