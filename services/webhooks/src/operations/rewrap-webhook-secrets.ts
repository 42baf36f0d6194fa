import { operations } from '@backoffice/contracts'
import { handle, type SecretBox } from '@backoffice/service-runtime'
import { rewrapStoredSecrets } from '../storage/secrets.ts'

export const rewrapWebhookSecrets = (box: SecretBox) =>
  handle(operations.webhooks.rewrapWebhookSecrets, {
    execute: async (_, { db }) => ({ rewrapped: await rewrapStoredSecrets(db, box) }),
  })
