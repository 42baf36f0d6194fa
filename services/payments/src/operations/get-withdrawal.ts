import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { inOrder } from '../storage/in-order.ts'
import { ofBrand } from '../storage/scope.ts'
import { findWithdrawals } from '../storage/withdrawals.ts'
import { shownWithdrawals } from '../views/shown-withdrawal.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

export const getWithdrawal = handle(operations.payments.getWithdrawal, {
  async read(calls, { db }) {
    const ids = calls.map(({ input }) => input.withdrawalId)
    const shown = inOrder(ids, await shownWithdrawals(db, await findWithdrawals(db, ids)))
    return calls.map(({ scope }, index) => {
      const withdrawal = ofBrand(shown[index], scope.brandId)
      return withdrawal === undefined ? new Rejection('WITHDRAWAL_NOT_FOUND') : publicWithdrawal(withdrawal)
    })
  },
})
