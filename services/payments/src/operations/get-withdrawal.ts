import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findShownWithdrawal } from '../storage/shown-withdrawal.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

export const getWithdrawal = query(operations.payments.getWithdrawal, async ({ input, scope }, tools) => {
  const shown = await findShownWithdrawal(tools, { id: input.withdrawalId, brandId: scope.brandId })
  if (shown === null) throw new Rejection('WITHDRAWAL_NOT_FOUND')
  return publicWithdrawal(shown.withdrawal)
})
