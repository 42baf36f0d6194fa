import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { listDeposits as list } from '../storage/deposits.ts'
import { teamDeposit } from '../views/deposit.ts'
import { shownDeposits } from '../views/shown-deposit.ts'

export const listDeposits = handle(operations.payments.listDeposits, async ({ input }, { db }) => {
  const shown = await shownDeposits(db, await list(db, input))
  return { data: shown.map(teamDeposit) }
})
