import type { HandlersOf, Reaction } from '@backoffice/service-runtime'
import * as deliveries from './deliveries/operations.ts'
import * as endpoints from './endpoints/operations.ts'

type Context = Parameters<typeof endpoints.testWebhook>[0] &
  Parameters<typeof endpoints.setWebhookUrl>[0] & { readonly reaction: Reaction }

export const handlers = (context: Context): HandlersOf<'webhooks'> => ({
  ...deliveries,
  testWebhook: endpoints.testWebhook(context),
  provisionWebhook: endpoints.provisionWebhook(context.box),
  setWebhookUrl: endpoints.setWebhookUrl(context),
  showWebhook: endpoints.showWebhook(context.breaker),
  listEndpoints: endpoints.listEndpoints(context.breaker),
  rotateWebhookSecret: endpoints.rotateWebhookSecret(context.box),
  disableWebhook: endpoints.disableWebhook(context.breaker),
  rewrapWebhookSecrets: endpoints.rewrapWebhookSecrets(context.box),
  rerunSetAside: deliveries.rerunSetAside(context.reaction),
})
