import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { requireRanges } from '../http/permitted-addresses.ts'
import { lockOperator, readOperatorRecord } from '../storage/operators.ts'

/** Changes what the input names, and nothing else. An empty list of addresses permits any. */
export const setOperatorLimits = command(operations.gateway.setOperatorLimits, {
  async execute({ input }, { em }) {
    requireRanges(input.allowedAddresses ?? [])
    const operator = await lockOperator(em, input.operatorId)
    operator.rateLimitPerMinute = input.rateLimitPerMinute ?? operator.rateLimitPerMinute
    operator.allowedAddresses = input.allowedAddresses ?? operator.allowedAddresses
    await em.flush()
    return readOperatorRecord(em, operator.id)
  },
})
