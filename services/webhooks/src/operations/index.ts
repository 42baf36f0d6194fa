import type { HandlersOf, SecretBox } from '@backoffice/service-runtime'
import type { BreakerSettings } from '../domain/breaker.ts'
import type { SendingPolicy } from '../sending/receiver-url.ts'
import type { ResolveHost } from '../sending/resolve.ts'
import type { Send } from '../sending/sender.ts'
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

export const handlers = ({
  box,
  breaker,
  policy,
  resolve,
  send,
}: {
  readonly box: SecretBox
  readonly breaker: BreakerSettings
  readonly policy: SendingPolicy
  readonly resolve: ResolveHost
  readonly send: Send
}): HandlersOf<'webhooks'> => ({
  testWebhook: testWebhook({ box, send }),
  provisionWebhook: provisionWebhook(box),
  setWebhookUrl: setWebhookUrl({ policy, resolve, breaker }),
  showWebhook: showWebhook(breaker),
  rotateWebhookSecret: rotateWebhookSecret(box),
  disableWebhook: disableWebhook(breaker),
  rewrapWebhookSecrets: rewrapWebhookSecrets(box),
  listDeliveries,
  showDelivery,
  resendDelivery,
  replayEvents,
})
