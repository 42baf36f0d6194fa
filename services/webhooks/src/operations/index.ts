import type { HandlersOf } from '@backoffice/service-runtime'
import type { WebhooksParts } from '../parts.ts'
import { disableWebhook } from './disable-webhook.ts'
import { listDeliveries } from './list-deliveries.ts'
import { provisionWebhook } from './provision-webhook.ts'
import { replayEvents } from './replay-events.ts'
import { resendDelivery } from './resend-delivery.ts'
import { rewrapWebhookSecrets } from './rewrap-webhook-secrets.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { setWebhookUrl } from './set-webhook-url.ts'
import { showDelivery } from './show-delivery.ts'
import { showWebhook } from './show-webhook.ts'
import { testWebhook } from './test-webhook.ts'

export const handlers = (parts: WebhooksParts): HandlersOf<'webhooks'> => ({
  testWebhook: testWebhook(parts),
  provisionWebhook: provisionWebhook(parts),
  setWebhookUrl: setWebhookUrl(parts),
  showWebhook: showWebhook(parts),
  rotateWebhookSecret: rotateWebhookSecret(parts),
  disableWebhook: disableWebhook(parts),
  rewrapWebhookSecrets: rewrapWebhookSecrets(parts),
  listDeliveries,
  showDelivery,
  resendDelivery,
  replayEvents,
})
