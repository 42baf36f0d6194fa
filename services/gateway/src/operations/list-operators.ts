import { operations } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { findOperators } from '../storage/operators.ts'
import { showOperator } from '../views/operator.ts'

const limitMax = 1_000

export const listOperators = handle(operations.gateway.listOperators, async ({ input }, { db }) => {
  const { after = '', limit = limitMax } = input
  const operators = await findOperators(db, { name: { $gt: after } }, limit + 1)
  return toPage(operators.map(showOperator), limit, ({ name }) => name)
})
