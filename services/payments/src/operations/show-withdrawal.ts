import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { listTransitions } from '../storage/transitions.ts'
import { findWithdrawals } from '../storage/withdrawals.ts'
import { shownWithdrawals } from '../views/shown-withdrawal.ts'
import { shownTransitions } from '../views/transition.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

export const showWithdrawal = handle(
  operations.payments.showWithdrawal,
  async ({ input: { withdrawalId } }, { db }) => {
    const [withdrawal] = await shownWithdrawals(db, await findWithdrawals(db, [withdrawalId]))
    if (withdrawal === undefined) throw new Rejection('WITHDRAWAL_NOT_FOUND')
    const histories = await listTransitions(db, [withdrawalId])
    return { ...teamWithdrawal(withdrawal), transitions: shownTransitions(histories.get(withdrawalId), withdrawal) }
  },
)
