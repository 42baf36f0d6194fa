import { operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { listDeposits as list } from '../storage/deposits.ts'
import { listUnfinished } from '../storage/unfinished.ts'
import { teamDeposit } from '../views/deposit.ts'

export const listDeposits = query(operations.payments.listDeposits, async ({ input }, { em, sql }) => {
  const deposits = await list(em, input)
  const confirmed = deposits.filter(({ status }) => status === 'confirmed').map(({ id }) => id)
  const unfinished = await listUnfinished(sql, confirmed)
  return { data: deposits.map((deposit) => teamDeposit(deposit, { settling: unfinished.has(deposit.id) })) }
})
