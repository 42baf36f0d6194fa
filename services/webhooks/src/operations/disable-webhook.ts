import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import type { WebhooksParts } from '../parts.ts'
import { describeEndpoint, disableEndpoint, lockEndpointOf } from '../storage/endpoints.ts'

export const disableWebhook = ({ breaker: settings }: WebhooksParts) =>
  command(operations.webhooks.disableWebhook, {
    async execute({ input }, { em, sql, now }) {
      const endpoint = await lockEndpointOf(em, input)
      await disableEndpoint(sql, { id: endpoint.id, reason: input.reason, now })
      await em.refresh(endpoint)
      return describeEndpoint(sql, endpoint, { settings, now })
    },
  })
