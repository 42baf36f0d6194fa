import { operations } from '@backoffice/contracts'
import { handle, type SecretBox } from '@backoffice/service-runtime'
import { rewrapSecrets } from '../storage/secrets.ts'

export const rewrapWebhookSecrets = (box: SecretBox) =>
  handle(operations.webhooks.rewrapWebhookSecrets, {
    execute: async (_, { db }) => ({ rewrapped: await rewrapSecrets(db, box) }),
  })
