import { operations } from '@backoffice/contracts'
import { handle, type SecretBox } from '@backoffice/service-runtime'
import { lockEndpoint } from '../storage/endpoints.ts'
import { rotateSecret } from '../storage/secrets.ts'

const overlapHoursDefault = 24
const hourMs = 3_600_000

export const rotateWebhookSecret = (box: SecretBox) =>
  handle(operations.webhooks.rotateWebhookSecret, {
    async execute({ input }, { db, now }) {
      const endpoint = await lockEndpoint(db, input)
      const overlapMs = Math.round((input.overlapHours ?? overlapHoursDefault) * hourMs)
      const { secret, formerExpiresAt } = await rotateSecret(db, { endpointId: endpoint.id, box, now, overlapMs })
      return { webhookSecret: secret, formerSecretExpiresAt: formerExpiresAt?.toISOString() ?? null }
    },
    stored: (reply) => ({ ...reply, webhookSecret: null }),
  })
