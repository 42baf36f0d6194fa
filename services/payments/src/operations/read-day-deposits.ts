import { fromMinorUnits, operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { sumDayDeposits } from '../storage/deposits.ts'

export const readDayDeposits = handle(operations.payments.readDayDeposits, {
  async read(calls, { db }) {
    const players = calls.map(({ input: { playerId }, scope: { timeZone } }) => ({ playerId, timeZone }))
    const totals = await sumDayDeposits(db, players)
    return totals.map((total) => ({ total: fromMinorUnits(total) }))
  },
})
