import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findOperatorNames } from '../storage/operators.ts'

export const readOperatorNames = handle(operations.gateway.readOperatorNames, async ({ input }, { db }) => ({
  operators: await findOperatorNames(db, input.operatorIds),
}))
