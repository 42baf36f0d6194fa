import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import type { WebhooksParts } from '../parts.ts'
import { lockEndpointOf } from '../storage/endpoints.ts'
import { rotateSecret } from '../storage/secrets.ts'

const overlapHoursDefault = 24
const hourMs = 3_600_000

export const rotateWebhookSecret = ({ box }: WebhooksParts) =>
  command(operations.webhooks.rotateWebhookSecret, {
    async execute({ input }, { em, sql, now }) {
      const endpoint = await lockEndpointOf(em, input)
      const overlapMs = Math.round((input.overlapHours ?? overlapHoursDefault) * hourMs)
      const { secret, formerExpiresAt } = await rotateSecret(sql, { endpointId: endpoint.id, box, now, overlapMs })
      return { webhookSecret: secret, formerSecretExpiresAt: formerExpiresAt?.toISOString() ?? null }
    },
    stored: (reply) => ({ ...reply, webhookSecret: null }),
  })
