import { operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findOperatorRecords } from '../storage/operators.ts'

export const listOperators = query(operations.gateway.listOperators, async (_call, { em }) => ({
  data: await findOperatorRecords(em, undefined),
}))
