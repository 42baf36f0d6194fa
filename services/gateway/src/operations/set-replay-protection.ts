import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { protectFromReplays } from '../domain/operator.ts'
import { changeOperator } from '../steps/change-operator.ts'

/** Holds within a second on every replica. */
export const setReplayProtection = handle(operations.gateway.setReplayProtection, {
  execute: ({ input: { operatorId, replayProtection } }, tools) =>
    changeOperator(tools, operatorId, (terms) => protectFromReplays(terms, replayProtection === 'on')),
})
