import { operations } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { listDeposits as list } from '../storage/deposits.ts'
import { teamDeposit } from '../views/deposit.ts'
import { shownDeposits } from '../views/shown-deposit.ts'

export const listDeposits = handle(operations.payments.listDeposits, async ({ input }, { db }) => {
  const { limit } = input
  const shown = await shownDeposits(db, await list(db, { ...input, limit: limit + 1 }))
  return toPage(shown.map(teamDeposit), limit, ({ id }) => id)
})
