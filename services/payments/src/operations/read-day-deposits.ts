import { fromMinorUnits, operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { sumDeposits } from '../storage/deposits.ts'

export const readDayDeposits = query(operations.payments.readDayDeposits, async ({ input, scope }, { sql, now }) => {
  const total = await sumDeposits(sql, { playerId: input.playerId, timeZone: scope.timeZone, now })
  return { total: fromMinorUnits(total) }
})
