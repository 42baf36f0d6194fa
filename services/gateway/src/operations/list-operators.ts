import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findOperators } from '../storage/operators.ts'
import { showOperator } from '../views/operator.ts'

export const listOperators = handle(operations.gateway.listOperators, async (_call, { db }) => ({
  data: (await findOperators(db, {})).map(showOperator),
}))
