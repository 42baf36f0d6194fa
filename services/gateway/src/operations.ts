import type { SecretBox } from '@backoffice/database/vault'
import type { HandlersOf } from '@backoffice/service-runtime'
import * as operators from './operators/operations.ts'
import type { DefaultQuotas } from './operators/operator.ts'
import * as providers from './providers/operations.ts'
import * as requests from './requests/operations.ts'
import * as sessions from './sessions/operations.ts'

/** The operations of the team and of other services, which come over NATS. Those of operators are HTTP routes (../http). */
export const handlers = (
  secrets: SecretBox,
  {
    development,
    quotas,
    baseUrl,
  }: { readonly development: boolean; readonly quotas: DefaultQuotas; readonly baseUrl: () => string },
): HandlersOf<'gateway'> => ({
  ...operators,
  ...providers,
  ...requests,
  ...sessions,
  createOperator: operators.createOperator(secrets, { development }),
  getOperator: operators.getOperator(quotas),
  showHomologation: operators.showHomologation(baseUrl),
  issueCredential: operators.issueCredential(secrets),
  createProvider: providers.createProvider({ development }),
  issueProviderKey: providers.issueProviderKey(secrets),
  rewrapSecrets: operators.rewrapSecrets(secrets),
})
