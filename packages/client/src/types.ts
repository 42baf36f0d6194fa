import type { webhooks } from './api.ts'
import type { WithdrawalDecisionRequest } from './names.ts'
import type { JsonOf } from './routes.ts'

export type * from './names.ts'

export type WithdrawalDecision = WithdrawalDecisionRequest['decision']

/** The name of every event, as `type` says it. */
export type WebhookEventType = keyof webhooks
/** The event of one type. */
export type WebhookEventOf<Type extends WebhookEventType> = JsonOf<webhooks[Type]['post']['requestBody']>
/** What the event of one type carries as `data`. */
export type WebhookEventData<Type extends WebhookEventType> = WebhookEventOf<Type>['data']
/** Every event by its `type`; narrow on it. */
export type WebhookEvent = { [Type in WebhookEventType]: WebhookEventOf<Type> }[WebhookEventType]
