import type { HandlersOf, Reaction } from '@backoffice/service-runtime'
import {
  listDeliveries,
  listSetAside,
  replayEvents,
  rerunSetAside,
  resendDelivery,
  showDelivery,
  showSetAside,
} from './deliveries/operations.ts'
import {
  disableWebhook,
  listEndpoints,
  provisionWebhook,
  rewrapWebhookSecrets,
  rotateWebhookSecret,
  setWebhookUrl,
  showWebhook,
} from './endpoints/operations.ts'
import { testWebhook } from './sending/test-webhook.ts'

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
