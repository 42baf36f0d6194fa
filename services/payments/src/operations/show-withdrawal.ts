import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findShownWithdrawal } from '../storage/shown-withdrawal.ts'
import { listTransitions } from '../storage/transitions.ts'
import { shownTransitions } from '../views/transition.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

export const showWithdrawal = query(operations.payments.showWithdrawal, async ({ input }, tools) => {
  const { brandId, withdrawalId: id } = input
  const shown = await findShownWithdrawal(tools, { id, brandId })
  if (shown === null) throw new Rejection('WITHDRAWAL_NOT_FOUND')
  const history = await listTransitions(tools.sql, id)
  const transitions = shownTransitions(history, { upTo: shown.withdrawal.version })
  return { ...teamWithdrawal(shown.withdrawal, shown), transitions }
})
