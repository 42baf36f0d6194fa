import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { normaliseRanges } from '../domain/addresses.ts'
import { changeLimits } from '../domain/operator.ts'
import { changeOperator } from '../steps/change-operator.ts'

/** Changes only the limits that the input has. An empty list of addresses permits any address. */
export const setOperatorLimits = handle(operations.gateway.setOperatorLimits, {
  async execute({ input }, tools) {
    const { rateLimitPerMinute, allowedAddresses } = input
    const limits = { rateLimitPerMinute, allowedAddresses: allowedAddresses && normaliseRanges(allowedAddresses) }
    return changeOperator(tools, input.operatorId, (terms) => changeLimits(terms, limits))
  },
})
