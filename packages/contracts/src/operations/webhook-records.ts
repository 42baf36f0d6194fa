import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { eventKinds, events } from '../events.ts'
import { storedBytesMax } from '../limits.ts'
import { personal, personalKindsIn } from '../personal.ts'
import { EnvironmentName, Timestamp } from '../resources.ts'
import { arrayOf, Nullable, object, oneOf, text } from '../schema.ts'

/** Which endpoint: each environment of an operator has one. */
export const endpoint = { operatorId: text(64), environment: EnvironmentName }

/** Marks a text that may be any event. */
export const anyEvent = <T extends TSchema>(schema: T) =>
  personal([...new Set(eventKinds.flatMap((kind) => [...personalKindsIn(events[kind].data)]))], schema)

export const deliveryStates = ['pending', 'delivered', 'failed', 'withheld'] as const
/**
 * `failed`: the last attempt failed. `withheld`: no URL was set, or the endpoint was disabled; a resend or a replay
 * sends it.
 */
export const DeliveryState = oneOf(deliveryStates)
export type DeliveryState = Static<typeof DeliveryState>

/** `undelivered`: those that wait and those that have failed. */
export const listedStates = ['undelivered', ...deliveryStates] as const
/** What the receiver answered last to a delivery that has not arrived, as a class of HTTP. */
export const deliveryAnswers = ['noAnswer', '3xx', '4xx', '5xx'] as const

export const deliveriesCountedMax = 100
/** How many deliveries are sent again by one decision. */
export const resentMax = 200

/** The secrets of an endpoint that are shown, the newest first. */
export const secretsShownMax = 20

/** How many waiting deliveries of one endpoint a list counts. */
export const pendingCountedMax = 10_000

const endpointState = {
  ...endpoint,
  url: Nullable(text(2_048)),
  enabled: Type.Boolean(),
  disabledAt: Nullable(Timestamp),
  disabledReason: Nullable(text(500)),
  /** `open`: nothing is sent until `retryAt`. `recovering`: the backlog leaves at a growing rate. */
  breaker: object({
    state: Type.Union([Type.Literal('closed'), Type.Literal('open'), Type.Literal('recovering')]),
    consecutiveFailures: Type.Integer(),
    failingSince: Nullable(Timestamp),
    retryAt: Nullable(Timestamp),
    concurrency: Type.Integer({ description: 'Deliveries that may be under way at once.' }),
  }),
  /** The release before does not say it. */
  lastFault: Type.Optional(
    Nullable(
      object({
        at: Timestamp,
        responseStatus: Nullable(Type.Integer()),
        error: text(500, { description: 'In plain words.' }),
      }),
      'Of the latest attempt at this URL that failed, also when others have succeeded since.',
    ),
  ),
}

/** An endpoint as the team sees it: never a secret. */
export const WebhookEndpoint = object({
  ...endpointState,
  /** Newest first. All secrets that have not expired sign. */
  secrets: arrayOf(secretsShownMax, { createdAt: Timestamp, expiresAt: Nullable(Timestamp) }),
  pending: Type.Integer({ description: 'Deliveries that wait for an attempt.' }),
  oldestPendingAt: Nullable(Timestamp),
  updatedAt: Timestamp,
})
export type WebhookEndpoint = Static<typeof WebhookEndpoint>

/** An endpoint as a list shows it. */
export const WebhookEndpointSummary = object({
  ...endpointState,
  failing: Type.Boolean(),
  pending: Type.Integer({
    maximum: pendingCountedMax,
    description: `Deliveries that wait for an attempt, counted up to ${pendingCountedMax}.`,
  }),
  oldestPendingAt: Nullable(Timestamp),
  updatedAt: Timestamp,
})
export type WebhookEndpointSummary = Static<typeof WebhookEndpointSummary>

export const DeliverySummary = object({
  id: text(64),
  eventId: text(64),
  type: text(64),
  ...endpoint,
  brandId: text(64),
  state: DeliveryState,
  attempts: Type.Integer({ description: 'All attempts ever made, those of resends included.' }),
  lastResponseStatus: Nullable(Type.Integer()),
  lastError: Nullable(text(500)),
  eventCreatedAt: Timestamp,
  receivedAt: Timestamp,
  nextAttemptAt: Nullable(Timestamp),
  heldUntil: Nullable(Timestamp, 'The endpoint fails and is left alone until then, whenever the next attempt is due.'),
  finishedAt: Nullable(Timestamp),
})
export type DeliverySummary = Static<typeof DeliverySummary>

export const DeliveryAttempt = object({
  number: Type.Integer(),
  startedAt: Timestamp,
  durationMs: Type.Integer(),
  url: text(2_048),
  responseStatus: Nullable(Type.Integer()),
  /** At most the first KiB; null when no response came. */
  responseHead: Nullable(text(1_024)),
  /** In plain words; null when the receiver acknowledged. */
  error: Nullable(text(500)),
})

/** The story of one delivery: what happened, in one sentence, then attempt by attempt. */
export const DeliveryStory = object({
  ...DeliverySummary.properties,
  outcome: text(1_000, { description: 'One sentence.' }),
  attemptLog: Type.Array(DeliveryAttempt, { description: 'Of very many the latest.' }),
  body: anyEvent(text(storedBytesMax, { description: 'The signed bytes.' })),
})
export type DeliveryStory = Static<typeof DeliveryStory>

export const setAsideColumns = {
  id: text(32),
  setAsideAt: Timestamp,
  subject: text(256),
  /** Of the event, where the message can be read that far. */
  eventId: Nullable(text(64)),
  operatorId: Nullable(text(64)),
  fault: text(1_000, { description: 'Why it could not be handled.' }),
}

/** A message that webhooks could not handle. No delivery has been made of it. */
export const SetAsideSummary = object(setAsideColumns)
export type SetAsideSummary = Static<typeof SetAsideSummary>
