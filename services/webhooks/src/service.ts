import {
  type Clock,
  loadConfig,
  type RunningService,
  runService,
  secretBoxFrom,
  startService,
} from '@backoffice/service-runtime'
import { type WebhooksConfig, webhooksConfig } from './config.ts'
import { handlers } from './operations/index.ts'
import type { WebhooksParts } from './parts.ts'
import { scheduleDelivery } from './reactions/schedule-delivery.ts'
import { Scheduler } from './schedule/scheduler.ts'
import { nameServerResolver, type ResolveHost, systemResolver } from './sending/resolve.ts'
import { createSender } from './sending/sender.ts'
import { entities } from './storage/entities.ts'

export { webhooksConfig }

const dayMs = 24 * 3_600_000
/** A delivery with its attempts, and a secret that signs nothing any more. Both outlive the retries by far. */
const retentions = [
  { table: 'delivery', column: 'finished_at', keepMs: 30 * dayMs },
  { table: 'secret', column: 'expires_at', keepMs: 30 * dayMs },
]

export interface WebhooksOptions {
  readonly clock?: Clock
  /** Instead of the name servers. */
  readonly resolve?: ResolveHost
  /** Certificate authorities besides the well-known ones. */
  readonly ca?: string
}

/** Starts the webhooks service. */
export function start(config: WebhooksConfig, options: WebhooksOptions = {}): Promise<RunningService> {
  const parts = webhooksParts(config, options)
  let scheduler: Scheduler | undefined
  return startService({
    name: 'webhooks',
    config,
    entities,
    operations: () => handlers(parts),
    reactions: () => [scheduleDelivery((endpointId) => scheduler?.nudge(endpointId))],
    background: (context) => {
      scheduler = new Scheduler({ ...context, ...parts, ...schedulerOptions(config) })
      scheduler.start()
      return [scheduler]
    },
    retentions,
    clock: options.clock,
  })
}

function webhooksParts(config: WebhooksConfig, options: WebhooksOptions): WebhooksParts {
  const policy = { allowLoopback: config.DEVELOPMENT }
  const resolve = options.resolve ?? (config.DEVELOPMENT ? systemResolver : nameServerResolver())
  const deadlineMs = config.WEBHOOK_DEADLINE_MS
  return {
    box: secretBoxFrom(config),
    breaker: { concurrencyMax: config.WEBHOOK_ENDPOINT_CONCURRENCY, backoffBaseMs: config.WEBHOOK_BACKOFF_BASE_MS },
    policy,
    resolve,
    send: createSender({ policy, resolve, deadlineMs, ...(options.ca === undefined ? {} : { ca: options.ca }) }),
  }
}

function schedulerOptions(config: WebhooksConfig) {
  return {
    random: Math.random,
    deadlineMs: config.WEBHOOK_DEADLINE_MS,
    concurrency: config.WEBHOOK_CONCURRENCY,
    disabling: { failingDays: config.WEBHOOK_DISABLE_AFTER_DAYS, failuresMin: 20 },
  }
}

if (import.meta.main) await runService(() => start(loadConfig(webhooksConfig, process.env)))
