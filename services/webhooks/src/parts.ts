import type { SecretBox } from '@backoffice/service-runtime'
import type { BreakerSettings } from './domain/breaker.ts'
import type { SendingPolicy } from './sending/receiver-url.ts'
import type { ResolveHost } from './sending/resolve.ts'
import type { Send } from './sending/sender.ts'

/** What the operations of this service share. */
export interface WebhooksParts {
  readonly box: SecretBox
  readonly breaker: BreakerSettings
  readonly policy: SendingPolicy
  readonly resolve: ResolveHost
  readonly send: Send
}
