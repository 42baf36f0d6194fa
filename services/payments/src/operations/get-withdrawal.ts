import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { ofBrand } from '../storage/scope.ts'
import { findWithdrawals } from '../storage/withdrawals.ts'
import { shownWithdrawals } from '../views/shown-withdrawal.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

export const getWithdrawal = handle(operations.payments.getWithdrawal, {
  async read(calls, { db }) {
    const ids = calls.map(({ input }) => input.withdrawalId)
    const shown = await shownWithdrawals(db, await findWithdrawals(db, ids))
    const byId = new Map(shown.map((withdrawal) => [withdrawal.id, withdrawal]))
    return calls.map(({ input, scope }) => {
      const withdrawal = ofBrand(byId.get(input.withdrawalId), scope.brandId)
      return withdrawal === undefined ? new Rejection('WITHDRAWAL_NOT_FOUND') : publicWithdrawal(withdrawal)
    })
  },
})
