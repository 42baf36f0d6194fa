export type { components, operations, paths } from './api.ts'
export { BackOfficeClient, type ClientOptions, type RequestOptions } from './client.ts'
export { BackOfficeError, ConnectionError } from './errors.ts'
export type {
  Deposit,
  DepositRequest,
  Game,
  GameSession,
  Kyc,
  KycSubmissionReceipt,
  KycSubmissionRequest,
  LedgerItem,
  LedgerPage,
  Me,
  Player,
  PlayerRequest,
  Wallet,
  WebhookEvent,
  WebhookTestResult,
  Withdrawal,
  WithdrawalRequest,
} from './types.ts'
export { verifyWebhook, WebhookVerificationError } from './webhooks.ts'
