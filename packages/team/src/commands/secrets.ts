import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'

const { rewrapSecrets } = operations.gateway
const { rewrapWebhookSecrets } = operations.webhooks

export const secrets = [
  row({
    path: 'secrets rewrap',
    operation: rewrapSecrets,
    also: [rewrapWebhookSecrets],
    description:
      'Encrypt every operator and webhook secret under the newest master key; older keys may be removed then',
    run: async ({ session, input, operationId }) => {
      const { keyId, rewrapped: operatorSecrets } = await session.call(rewrapSecrets, input, operationId)
      const { rewrapped: webhookSecrets } = await session.call(rewrapWebhookSecrets, input, operationId)
      return { keyId, operatorSecrets, webhookSecrets }
    },
  }),
]
