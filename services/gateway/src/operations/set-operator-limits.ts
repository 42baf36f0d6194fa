import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { isWidened, normaliseRanges } from '../domain/addresses.ts'
import { changeLimits } from '../domain/operator.ts'
import { changeOperator } from '../steps/change-operator.ts'
import { lockOperator } from '../storage/operators.ts'

/** Changes only the limits that the input has. An empty list of addresses permits any address. */
export const setOperatorLimits = handle(operations.gateway.setOperatorLimits, {
  /** Nobody alone lets others call with an operator's keys. An operator's addresses are those of both environments. */
  async approval({ input: { operatorId, allowedAddresses } }, { db }) {
    if (allowedAddresses === undefined) return 'nobody'
    const ranges = normaliseRanges(allowedAddresses)
    return isWidened((await lockOperator(db, operatorId)).allowedAddresses, ranges) ? 'second person' : 'nobody'
  },
  async execute({ input }, tools) {
    const { rateLimitPerMinute, allowedAddresses } = input
    const limits = { rateLimitPerMinute, allowedAddresses: allowedAddresses && normaliseRanges(allowedAddresses) }
    return changeOperator(tools, input.operatorId, (terms) => changeLimits(terms, limits))
  },
})
