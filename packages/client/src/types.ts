import type { components, webhooks } from './api.ts'
import type { JsonOf } from './routes.ts'

type Schemas = components['schemas']

export type Me = Schemas['Me']
export type Player = Schemas['Player']
export type PlayerRequest = Schemas['PlayerRequest']
export type Kyc = Schemas['Kyc']
export type KycDecision = Schemas['KycDecisionRequest']['status']
export type KycSubmissionRequest = Schemas['KycSubmissionRequest']
export type KycSubmissionReceipt = Schemas['KycSubmissionReceipt']
export type Wallet = Schemas['Wallet']
export type LedgerItem = Schemas['LedgerItem']
export type LedgerPage = Schemas['LedgerPage']
export type Deposit = Schemas['Deposit']
export type DepositRequest = Schemas['DepositRequest']
export type Withdrawal = Schemas['Withdrawal']
export type WithdrawalRequest = Schemas['WithdrawalRequest']
export type WithdrawalDecision = Schemas['WithdrawalDecisionRequest']['decision']
export type Game = Schemas['Game']
export type GameSession = Schemas['GameSession']
export type WebhookTestResult = Schemas['WebhookTestResult']

/** The name of every event, as `type` says it. */
export type WebhookEventType = keyof webhooks
/** The event of one type. */
export type WebhookEventOf<Type extends WebhookEventType> = JsonOf<webhooks[Type]['post']['requestBody']>
/** What the event of one type carries as `data`. */
export type WebhookEventData<Type extends WebhookEventType> = WebhookEventOf<Type>['data']
/** Every event by its `type`; narrow on it. */
export type WebhookEvent = { [Type in WebhookEventType]: WebhookEventOf<Type> }[WebhookEventType]
