import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { lockOperator, readOperatorRecord } from '../storage/operators.ts'

export const activateOperator = command(operations.gateway.activateOperator, {
  async execute({ input }, { em }) {
    const operator = await lockOperator(em, input.operatorId)
    operator.suspendedAt = null
    await em.flush()
    return readOperatorRecord(em, operator.id)
  },
})
