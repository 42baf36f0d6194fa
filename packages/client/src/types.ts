import type { components } from './api.ts'

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

/** Every event by its `type`; narrow on it. */
export type WebhookEvent =
  | Schemas['KycStatusChangedEvent']
  | Schemas['DepositConfirmedEvent']
  | Schemas['WithdrawalStatusChangedEvent']
  | Schemas['WebhookTestEvent']
