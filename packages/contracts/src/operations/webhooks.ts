import { Type } from '@sinclair/typebox'
import { operation } from '../operation.ts'
import { Nullable, WebhookTestResult } from '../resources.ts'

const closed = { additionalProperties: false } as const

export const testWebhook = operation({
  service: 'webhooks',
  audience: 'operator',
  id: 'testWebhook',
  kind: 'posting',
  tag: 'Webhooks',
  summary: 'Send a test delivery',
  description: 'Makes one attempt at once, to the configured URL, and answers what the receiver said.',
  http: { method: 'POST', path: '/webhooks/test', status: 200 },
  body: Type.Object({}, { additionalProperties: true }),
  reply: WebhookTestResult,
  rejects: ['WEBHOOK_NOT_CONFIGURED'],
  timeoutMs: 20_000,
  example: {
    body: {},
    reply: {
      eventId: 'evt_01kaj6m6k4fvgs2g4k5x9q9n3c',
      delivered: true,
      responseStatus: 204,
      durationMs: 41,
      error: null,
    },
  },
})

/** Makes the signing secret of a new operator's environment; null when it has one already, since a secret is shown once. */
export const provisionWebhook = operation({
  service: 'webhooks',
  audience: 'internal',
  id: 'provisionWebhook',
  kind: 'posting',
  callers: ['gateway'],
  summary: 'Make the webhook secret of an environment',
  body: Type.Object({ operatorName: Type.String() }, closed),
  reply: Type.Object({ webhookSecret: Nullable(Type.String({ pattern: '^whsec_' })) }, closed),
})
