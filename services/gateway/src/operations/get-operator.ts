import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findOperatorRecords } from '../storage/operators.ts'

export const getOperator = query(operations.gateway.getOperator, async ({ input }, { em }) => {
  const where = input.name.startsWith('op_') ? { id: input.name } : { name: input.name }
  const [record] = await findOperatorRecords(em, where)
  if (record === undefined) throw new Rejection('OPERATOR_NOT_FOUND')
  return record
})
