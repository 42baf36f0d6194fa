import type { HandlersOf } from '@backoffice/service-runtime'
import type { SecretBox } from '@backoffice/vault'
import {
  activateOperator,
  createOperator,
  getOperator,
  issueCredential,
  listOperators,
  readOperatorNames,
  revokeCredential,
  rewrapSecrets,
  setOperatorLimits,
  setReplayProtection,
  suspendOperator,
} from './operators/operations.ts'

/** The operations of the team and of other services, which come over NATS. Those of operators are HTTP routes (../http). */
export const handlers = (
  secrets: SecretBox,
  environment: { readonly development: boolean },
): HandlersOf<'gateway'> => ({
  readOperatorNames,
  createOperator: createOperator(secrets, environment),
  listOperators,
  getOperator,
  suspendOperator,
  activateOperator,
  setOperatorLimits,
  setReplayProtection,
  issueCredential: issueCredential(secrets),
  revokeCredential,
  rewrapSecrets: rewrapSecrets(secrets),
})
