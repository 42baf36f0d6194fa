import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { readOperator } from '../storage/operators.ts'
import { showOperator } from '../views/operator.ts'

export const getOperator = handle(operations.gateway.getOperator, async ({ input: { name } }, { db }) =>
  showOperator(await readOperator(db, name.startsWith('op_') ? { id: name } : { name })),
)
