import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { activate } from '../domain/operator.ts'
import { changeOperator } from '../steps/change-operator.ts'

export const activateOperator = handle(operations.gateway.activateOperator, {
  execute: ({ input }, tools) => changeOperator(tools, input.operatorId, activate),
})
