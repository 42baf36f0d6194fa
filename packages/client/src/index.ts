export type { components, operations, paths, webhooks } from './api.ts'
export { apiVersion } from './api.ts'
export { BackOfficeClient, type ClientOptions, type DecisionOptions } from './client.ts'
export {
  BackOfficeError,
  type BackOfficeErrorOf,
  ConnectionError,
  type ErrorCode,
  type ErrorDetailsOf,
} from './errors.ts'
export type { ApiCall, RequestOptions } from './routes.ts'
export type { ApiReply, RequestEvent, ResponseEvent, RetryEvent } from './transport.ts'
export type * from './types.ts'
export { type VerifyWebhookOptions, verifyWebhook, type WebhookHeaders, WebhookVerificationError } from './webhooks.ts'
