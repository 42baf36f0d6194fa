import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findDeposit } from '../storage/deposits.ts'
import { listTransitions } from '../storage/transitions.ts'
import { findUnfinished } from '../storage/unfinished.ts'
import { teamDeposit } from '../views/deposit.ts'
import { shownTransitions } from '../views/transition.ts'

export const showDeposit = query(operations.payments.showDeposit, async ({ input }, { em, sql }) => {
  const { brandId, depositId: id } = input
  const deposit = await findDeposit(em, { id, brandId })
  if (deposit === null) throw new Rejection('DEPOSIT_NOT_FOUND')
  const settling = (await findUnfinished(sql, id)) !== null
  const transitions = shownTransitions(await listTransitions(sql, id), { upTo: deposit.version - (settling ? 1 : 0) })
  return { ...teamDeposit(deposit, { settling }), transitions }
})
