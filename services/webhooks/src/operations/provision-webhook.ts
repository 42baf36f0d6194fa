import { operations } from '@backoffice/contracts'
import { posting } from '@backoffice/service-runtime'
import type { WebhooksParts } from '../parts.ts'
import { endpointId } from '../storage/endpoint-id.ts'
import { ensureEndpoint } from '../storage/endpoints.ts'
import { provisionSecret } from '../storage/secrets.ts'

export const provisionWebhook = ({ box }: WebhooksParts) =>
  posting(operations.webhooks.provisionWebhook, async ({ scope }, { sql, now }) => {
    await ensureEndpoint(sql, scope, now)
    return { webhookSecret: await provisionSecret(sql, { endpointId: endpointId(scope), box, now }) }
  })
