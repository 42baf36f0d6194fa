import type { HandlersOf, Reaction } from '@backoffice/service-runtime'
import {
  countDeliveries,
  listDeliveries,
  listSetAside,
  readHomologation,
  replayEvents,
  rerunSetAside,
  resendDeliveries,
  resendDelivery,
  showDelivery,
  showSetAside,
} from './deliveries/operations.ts'
import * as endpoints from './endpoints/operations.ts'
import { testWebhook } from './sending/test-webhook.ts'

type Context = Parameters<typeof testWebhook>[0] &
  Parameters<typeof endpoints.setWebhookUrl>[0] & { readonly reaction: Reaction }

export const handlers = (context: Context): HandlersOf<'webhooks'> => ({
  testWebhook: testWebhook(context),
  provisionWebhook: endpoints.provisionWebhook(context.box),
  setWebhookUrl: endpoints.setWebhookUrl(context),
  showWebhook: endpoints.showWebhook(context.breaker),
  listEndpoints: endpoints.listEndpoints(context.breaker),
  rotateWebhookSecret: endpoints.rotateWebhookSecret(context.box),
  disableWebhook: endpoints.disableWebhook(context.breaker),
  rewrapWebhookSecrets: endpoints.rewrapWebhookSecrets(context.box),
  listDeliveries,
  countDeliveries,
  showDelivery,
  readHomologation,
  resendDelivery,
  resendDeliveries,
  replayEvents,
  listSetAside,
  showSetAside,
  rerunSetAside: rerunSetAside(context.reaction),
})
