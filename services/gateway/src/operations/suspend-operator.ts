import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { suspend } from '../domain/operator.ts'
import { changeOperator } from '../steps/change-operator.ts'

/** Holds within a second on every replica. What was already committed finishes, webhooks included. */
export const suspendOperator = handle(operations.gateway.suspendOperator, {
  execute: ({ input }, tools) => changeOperator(tools, input.operatorId, (terms) => suspend(terms, tools.now)),
})
