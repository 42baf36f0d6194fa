import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findDeposits } from '../storage/deposits.ts'
import { listTransitions } from '../storage/transitions.ts'
import { teamDeposit } from '../views/deposit.ts'
import { shownDeposits } from '../views/shown-deposit.ts'
import { shownTransitions } from '../views/transition.ts'

export const showDeposit = handle(operations.payments.showDeposit, async ({ input: { depositId } }, { db }) => {
  const [deposit] = await shownDeposits(db, await findDeposits(db, [depositId]))
  if (deposit === undefined) throw new Rejection('DEPOSIT_NOT_FOUND')
  const histories = await listTransitions(db, [depositId])
  return { ...teamDeposit(deposit), transitions: shownTransitions(histories.get(depositId), deposit) }
})
