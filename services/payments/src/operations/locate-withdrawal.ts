import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findShownWithdrawal } from '../storage/shown-withdrawal.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

export const locateWithdrawal = query(operations.payments.locateWithdrawal, async ({ input }, tools) => {
  const shown = await findShownWithdrawal(tools, { id: input.id })
  if (shown === null) throw new Rejection('WITHDRAWAL_NOT_FOUND')
  return teamWithdrawal(shown.withdrawal, shown)
})
