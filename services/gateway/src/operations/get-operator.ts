import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { readOperator } from '../storage/operators.ts'
import { showOperators } from '../views/operator.ts'

export const getOperator = handle(operations.gateway.getOperator, async ({ input: { name } }, { db }) => {
  const found = await readOperator(db, name.startsWith('op_') ? { id: name } : { name })
  const [operator] = await showOperators(db, [found])
  if (operator === undefined) throw new Error(`${found.id} is not shown`)
  return operator
})
