import { operations } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { findOperators } from '../storage/operators.ts'
import { showOperators } from '../views/operator.ts'

const limitMax = 1_000

export const listOperators = handle(operations.gateway.listOperators, async ({ input }, { db }) => {
  const { after = '', limit = limitMax } = input
  const operators = await findOperators(db, { name: { $gt: after } }, limit + 1)
  return toPage(await showOperators(db, operators), limit, ({ name }) => name)
})
