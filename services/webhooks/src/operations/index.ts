import type { HandlersOf, Reaction } from '@backoffice/service-runtime'
import { disableWebhook } from './disable-webhook.ts'
import { listDeliveries } from './list-deliveries.ts'
import { listEndpoints } from './list-endpoints.ts'
import { listSetAside } from './list-set-aside.ts'
import { provisionWebhook } from './provision-webhook.ts'
import { replayEvents } from './replay-events.ts'
import { rerunSetAside } from './rerun-set-aside.ts'
import { resendDelivery } from './resend-delivery.ts'
import { rewrapWebhookSecrets } from './rewrap-webhook-secrets.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { setWebhookUrl } from './set-webhook-url.ts'
import { showDelivery } from './show-delivery.ts'
import { showSetAside } from './show-set-aside.ts'
import { showWebhook } from './show-webhook.ts'
import { testWebhook } from './test-webhook.ts'

type Context = Parameters<typeof testWebhook>[0] & Parameters<typeof setWebhookUrl>[0] & { readonly reaction: Reaction }

export const handlers = (context: Context): HandlersOf<'webhooks'> => ({
  testWebhook: testWebhook(context),
  provisionWebhook: provisionWebhook(context.box),
  setWebhookUrl: setWebhookUrl(context),
  showWebhook: showWebhook(context.breaker),
  listEndpoints: listEndpoints(context.breaker),
  rotateWebhookSecret: rotateWebhookSecret(context.box),
  disableWebhook: disableWebhook(context.breaker),
  rewrapWebhookSecrets: rewrapWebhookSecrets(context.box),
  listDeliveries,
  showDelivery,
  resendDelivery,
  replayEvents,
  listSetAside,
  showSetAside,
  rerunSetAside: rerunSetAside(context.reaction),
})
