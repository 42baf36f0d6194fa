import { Type } from '@sinclair/typebox'
import { eventKinds } from '../events.ts'
import { sample } from '../examples.ts'
import { internal, operator, post, team } from '../operation.ts'
import { EnvironmentName, Id, Reason, Timestamp, WebhookTestResult } from '../resources.ts'
import { Line, Nullable, object, oneOf, optional, pageOf, text } from '../schema.ts'
import { HomologationProof, seenField } from './fields.ts'
import { webhookFigures } from './figures.ts'
import { service } from './runtime.ts'
import {
  anyEvent,
  DeliveryState,
  DeliveryStory,
  DeliverySummary,
  deliveriesCountedMax,
  deliveryAnswers,
  deliveryStates,
  endpoint,
  listedStates,
  resentMax,
  SetAsideSummary,
  setAsideColumns,
  WebhookEndpoint,
  WebhookEndpointSummary,
} from './webhook-records.ts'

/** An endpoint has a URL, which may be as long as browsers allow and is kept as it was given. */
const endpointBytesMax = 24 * 1024
const EventType = oneOf(eventKinds)
const seenUrl = seenField({ url: Nullable(Line({ maxLength: 2048 })) })
const states = (description: string) =>
  Type.Array(DeliveryState, { minItems: 1, maxItems: deliveryStates.length, uniqueItems: true, description })
const deliveryFilter = {
  operatorId: Type.Optional(Type.String()),
  environment: Type.Optional(EnvironmentName),
  type: Type.Optional(EventType),
  since: Type.Optional(Timestamp),
  until: Type.Optional(Timestamp),
  answer: optional(oneOf(deliveryAnswers), 'What the receiver answered last; without a state, of what is undelivered.'),
}
/** Short, so that many of them fit into the trail. */
const DeliveryId = text(40, { pattern: '^\\w+$' })
const Counted = Type.Integer({ maximum: deliveriesCountedMax })

/** Endpoints, signing secrets and deliveries. */
export const webhooks = service('webhooks', {
  /** Its reply is not stored: each call sends a new test event, and makes one attempt to deliver it. */
  testWebhook: operator.direct({
    http: post('/webhooks/test'),
    stores: { bytes: 5_000, rows: 3 },
    tag: 'Webhooks',
    summary: 'Send a test delivery',
    description: 'Makes one attempt at once, to the configured URL, and answers what the receiver said.',
    body: Type.Object({}, { additionalProperties: true }),
    reply: WebhookTestResult,
    // Beside what every route may answer: more than five tests at once.
    rejects: ['WEBHOOK_NOT_CONFIGURED', 'RATE_LIMITED'],
    timeoutMs: 20_000,
    sentOnce: true,
    example: {
      body: {},
      reply: { eventId: sample.testEventId, delivered: true, responseStatus: 204, durationMs: 41, error: null },
    },
  }),

  /** Makes the signing secret of a new operator's environment; null when it has one already, since a secret is shown once. */
  provisionWebhook: internal.direct({
    callers: ['gateway'],
    sentOnce: true,
    summary: 'Make the webhook secret of an environment',
    body: object({ operatorName: Type.String() }),
    reply: object({ webhookSecret: Nullable(Type.String({ pattern: '^whsec_' })) }),
  }),

  /** Of the sandbox of the scope's operator. Deliveries are purged, so the gateway keeps what it has heard. */
  readHomologation: internal.query({
    callers: ['gateway'],
    summary: 'Read what deliveries have proved',
    body: object({}),
    reply: object({ proofs: Type.Array(HomologationProof, { maxItems: 10 }) }),
    timeoutMs: 2_000,
  }),

  setWebhookUrl: team.command({
    roles: ['integration'],
    twoPeople: { when: { environment: 'production' } },
    summary: 'Set the webhook URL of an environment',
    description: 'Setting a URL also enables the endpoint and closes its circuit breaker.',
    body: object({
      ...endpoint,
      url: Line({ minLength: 1, maxLength: 2048 }),
      ...seenUrl,
      reason: Type.Optional(Reason),
    }),
    storedBytesMax: endpointBytesMax,
    reply: WebhookEndpoint,
    rejects: ['OPERATOR_NOT_FOUND', 'WEBHOOK_URL_REFUSED', 'NOT_AS_SEEN'],
  }),

  showWebhook: team.query({
    roles: ['integration', 'support', 'auditor'],
    summary: 'Show the webhook endpoint of an environment, its circuit breaker and what waits',
    body: object(endpoint),
    reply: WebhookEndpoint,
    rejects: ['OPERATOR_NOT_FOUND'],
  }),

  listEndpoints: team.query({
    roles: ['integration', 'support', 'auditor'],
    summary: 'List the webhook endpoints of an environment that have a URL, those that fail first',
    description:
      'An endpoint fails while its circuit breaker is open or recovering, or when it was failing as it was disabled.',
    body: object({
      environment: EnvironmentName,
      failing: optional(Type.Boolean(), 'Only those that fail.'),
      after: optional(Type.String({ minLength: 1, maxLength: 128 }), 'The cursor of the page before.'),
      limit: Type.Integer({ minimum: 1, maximum: 100 }),
    }),
    reply: object({ data: Type.Array(WebhookEndpointSummary, { maxItems: 100 }), nextCursor: Nullable(text(128)) }),
  }),

  /** The secret is shown once: a replay of the same operation id answers null. */
  rotateWebhookSecret: team.command({
    roles: ['integration'],
    twoPeople: { when: { environment: 'production' } },
    summary: 'Make a new webhook secret, shown once',
    description: 'X-Webhook-Signature keeps the former one until the overlap ends.',
    body: object({
      ...endpoint,
      overlapHours: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 720,
          description: 'How long X-Webhook-Signature keeps the former secret: 24 unless said, 0 after a leak.',
        }),
      ),
      ...seenUrl,
      reason: Type.Optional(Reason),
    }),
    storedBytesMax: endpointBytesMax,
    reply: object({
      webhookSecret: Nullable(text(128, { pattern: '^whsec_' })),
      formerSecretExpiresAt: Nullable(Timestamp),
    }),
    rejects: ['OPERATOR_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  disableWebhook: team.command({
    roles: ['integration'],
    summary: 'Stop sending to an endpoint',
    description: 'Events are kept, and leave with a resend or a replay.',
    // An endpoint that fails for days is disabled by the service.
    alsoByItself: true,
    body: object({ ...endpoint, ...seenUrl, reason: Reason }),
    storedBytesMax: endpointBytesMax,
    reply: WebhookEndpoint,
    rejects: ['OPERATOR_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  listDeliveries: team.query({
    roles: ['integration', 'support', 'auditor'],
    summary: 'List deliveries, newest first',
    body: object({
      ...deliveryFilter,
      state: optional(oneOf(listedStates), 'Undelivered ones wait or have failed.'),
      after: optional(Type.String(), 'Go on after this delivery.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(DeliverySummary),
  }),

  countDeliveries: team.query({
    roles: ['integration', 'support', 'auditor'],
    summary: `Count the deliveries that have not arrived, up to ${deliveriesCountedMax} of each state`,
    body: object(deliveryFilter),
    reply: object({ pending: Counted, failed: Counted, withheld: Counted }),
  }),

  ...webhookFigures,

  showDelivery: team.query({
    roles: ['integration', 'support', 'auditor'],
    summary: 'Tell the story of one delivery: what happened, in one sentence, then attempt by attempt',
    body: object({ id: Type.String({ description: 'Of the delivery (dlv_…) or of its event (evt_…).' }) }),
    reply: DeliveryStory,
    rejects: ['DELIVERY_NOT_FOUND'],
  }),

  resendDelivery: team.command({
    roles: ['integration'],
    summary: 'Send a delivery again: the same event id and body',
    description: 'Whatever its state, the delivery is due at once, with all its attempts before it.',
    body: object({
      id: text(128),
      ...seenField({ type: Type.String({ pattern: '^[a-z_.]{1,64}$' }) }),
      reason: Type.Optional(Reason),
    }),
    reply: DeliverySummary,
    rejects: ['DELIVERY_NOT_FOUND', 'NOT_AS_SEEN', 'WEBHOOK_NOT_CONFIGURED'],
  }),

  resendDeliveries: team.command({
    roles: ['integration'],
    summary: 'Send several deliveries of an endpoint again',
    description: 'As a resend of each: all are due at once.',
    body: object({
      ...endpoint,
      ids: Type.Array(DeliveryId, {
        minItems: 1,
        maxItems: resentMax,
        uniqueItems: true,
        description: 'Of the deliveries.',
      }),
      states: states('What is in another state by now is left as it is.'),
      ...seenUrl,
      reason: Type.Optional(Reason),
    }),
    storedBytesMax: endpointBytesMax,
    reply: object({ scheduled: Type.Integer(), left: Type.Integer() }),
    rejects: ['OPERATOR_NOT_FOUND', 'NOT_AS_SEEN', 'WEBHOOK_NOT_CONFIGURED'],
  }),

  replayEvents: team.command({
    roles: ['integration'],
    summary: "Send a period's events again, oldest first, at a steady pace",
    description: 'At most 5,000 by one call; the next one goes on after them, at the same pace.',
    body: object({
      ...endpoint,
      since: Timestamp,
      until: Type.Optional(Timestamp),
      states: Type.Optional(states('Failed and withheld unless said; delivered ones only when named.')),
      type: Type.Optional(EventType),
      ratePerMinute: optional(Type.Integer({ minimum: 1, maximum: 6000 }), 'Per minute; 300 unless said.'),
      after: optional(Id, 'Go on after this delivery.'),
      ...seenUrl,
      reason: Type.Optional(Reason),
    }),
    storedBytesMax: endpointBytesMax,
    reply: object({
      scheduled: Type.Integer(),
      firstAt: Nullable(Timestamp),
      lastAt: Nullable(Timestamp),
      nextCursor: Nullable(Id),
    }),
    rejects: ['OPERATOR_NOT_FOUND', 'NOT_AS_SEEN', 'WEBHOOK_NOT_CONFIGURED'],
  }),

  listSetAside: team.query({
    roles: ['integration', 'auditor'],
    summary: 'List the messages that could not be handled, oldest first',
    body: object({
      after: optional(Type.String(), 'Go on after this message.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(SetAsideSummary),
  }),

  showSetAside: team.query({
    roles: ['integration', 'auditor'],
    summary: 'Show a message that could not be handled, with its payload',
    body: object({ id: Type.String() }),
    reply: object({ ...setAsideColumns, payload: anyEvent(text(65_536)) }),
    rejects: ['MESSAGE_NOT_FOUND'],
  }),

  rerunSetAside: team.command({
    roles: ['integration'],
    summary: 'Handle messages again that could not be handled, once their cause is removed',
    description:
      'Each event is delivered once. A message that cannot be read, or fails again, stays where it is and holds back no other.',
    body: object({
      id: Type.Optional(text(128, { description: 'This message; the oldest ones unless said.' })),
      reason: Reason,
    }),
    reply: object({
      handled: Type.Integer(),
      left: Type.Integer({ description: 'Messages of this run that cannot be read, or failed again.' }),
      remaining: Type.Integer({ description: 'Messages that are still set aside, those included.' }),
    }),
    rejects: ['MESSAGE_NOT_FOUND'],
  }),

  /** Run it after a new master key was put first: secrets under older keys are encrypted again. */
  rewrapWebhookSecrets: team.command({
    roles: ['integration'],
    summary: 'Encrypt the webhook secrets under the newest master key',
    body: object({ reason: Type.Optional(Reason) }),
    reply: object({ rewrapped: Type.Integer() }),
  }),
})
