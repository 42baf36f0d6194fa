import { operations } from '@backoffice/contracts'
import { handle, type SecretBox } from '@backoffice/service-runtime'
import { endpointId } from '../domain/endpoint.ts'
import { ensureEndpoints } from '../storage/endpoints.ts'
import { provisionSecret } from '../storage/secrets.ts'

export const provisionWebhook = (box: SecretBox) =>
  handle(operations.webhooks.provisionWebhook, async ({ scope }, { db, now }) => {
    await ensureEndpoints(db, [scope], now)
    return { webhookSecret: await provisionSecret(db, { endpointId: endpointId(scope), box, now }) }
  })
