import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { lockOperator, readOperatorRecord } from '../storage/operators.ts'

/** Holds within a second on every replica. What was already committed finishes, webhooks included. */
export const suspendOperator = command(operations.gateway.suspendOperator, {
  async execute({ input }, { em, now }) {
    const operator = await lockOperator(em, input.operatorId)
    operator.suspendedAt ??= now
    await em.flush()
    return readOperatorRecord(em, operator.id)
  },
})
