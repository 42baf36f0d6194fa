import { serviceConfig } from '@backoffice/service-runtime'
import { type Static, Type } from '@sinclair/typebox'
import { backoffBaseDefaultMs } from './domain/retry-schedule.ts'

/** The environment variables of the webhooks service. */
export const webhooksConfig = Type.Composite([
  serviceConfig,
  Type.Object({
    /** `id:base64key,…`, newest first; required outside development. */
    MASTER_KEYS: Type.Optional(Type.String({ minLength: 1 })),
    /** The first wait of the retry schedule; the others are multiples of it. */
    WEBHOOK_BACKOFF_BASE_MS: Type.Integer({ minimum: 1, maximum: 3_600_000, default: backoffBaseDefaultMs }),
    /** For one attempt as a whole; shorter than what POST /webhooks/test waits for. */
    WEBHOOK_DEADLINE_MS: Type.Integer({ minimum: 100, maximum: 15_000, default: 10_000 }),
    /** Deliveries under way at once to one endpoint, over all replicas. */
    WEBHOOK_ENDPOINT_CONCURRENCY: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
    /** Deliveries under way at once in this replica. */
    WEBHOOK_CONCURRENCY: Type.Integer({ minimum: 1, maximum: 2_000, default: 200 }),
    /** An endpoint that fails for so long without one success is disabled. */
    WEBHOOK_DISABLE_AFTER_DAYS: Type.Number({ exclusiveMinimum: 0, maximum: 90, default: 5 }),
  }),
])
export type WebhooksConfig = Static<typeof webhooksConfig>
