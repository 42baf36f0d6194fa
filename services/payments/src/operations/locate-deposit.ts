import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findDeposit } from '../storage/deposits.ts'
import { findUnfinished } from '../storage/unfinished.ts'
import { teamDeposit } from '../views/deposit.ts'

export const locateDeposit = query(operations.payments.locateDeposit, async ({ input: { id } }, { em, sql }) => {
  const deposit = await findDeposit(em, { id })
  if (deposit === null) throw new Rejection('DEPOSIT_NOT_FOUND')
  return teamDeposit(deposit, { settling: (await findUnfinished(sql, id)) !== null })
})
