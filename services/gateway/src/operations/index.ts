import type { HandlersOf, SecretBox } from '@backoffice/service-runtime'
import { activateOperator } from './activate-operator.ts'
import { createOperator } from './create-operator.ts'
import { getOperator } from './get-operator.ts'
import { issueCredential } from './issue-credential.ts'
import { listOperators } from './list-operators.ts'
import { readOperatorNames } from './read-operator-names.ts'
import { revokeCredential } from './revoke-credential.ts'
import { rewrapSecrets } from './rewrap-secrets.ts'
import { setOperatorLimits } from './set-operator-limits.ts'
import { setReplayProtection } from './set-replay-protection.ts'
import { suspendOperator } from './suspend-operator.ts'

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
