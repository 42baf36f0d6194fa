import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import type { WebhooksParts } from '../parts.ts'
import { rewrapSecrets } from '../storage/secrets.ts'

export const rewrapWebhookSecrets = ({ box }: WebhooksParts) =>
  command(operations.webhooks.rewrapWebhookSecrets, {
    execute: async (_, { sql }) => ({ rewrapped: await rewrapSecrets(sql, box) }),
  })
