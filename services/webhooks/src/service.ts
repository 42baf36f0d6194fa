import { sealingSettings, secretBoxFrom } from '@backoffice/database/vault'
import { dayMs, patiently } from '@backoffice/process'
import { defineService, sql } from '@backoffice/service-runtime'
import { teamPlugin } from '@backoffice/team-access'
import { Type } from '@sinclair/typebox'
import { backoffBaseDefaultMs } from './deliveries/delivery.ts'
import { scheduleDelivery, sealedTables } from './deliveries/schedule-delivery.ts'
import {
  backlogWithholding,
  deliveryBacklog,
  deliveryJudge,
  deliveryJudgement,
  lostLeaseEnding,
} from './deliveries/upkeep.ts'
import { handlers } from './operations.ts'
import { Scheduler } from './sending/scheduler.ts'
import { createSender, nameServerResolver, type ResolveHost, systemResolver } from './sending/sender.ts'
import { migrations } from './storage/migrations/index.ts'

const settings = {
  /** The master keys seal the webhook secrets too, so they are required outside development in any case. */
  ...sealingSettings,
  /** The first wait of the retry schedule; the others are multiples of it. */
  WEBHOOK_BACKOFF_BASE_MS: Type.Integer({ minimum: 1, maximum: 3_600_000, default: backoffBaseDefaultMs }),
  /** For one attempt as a whole; shorter than what POST /webhooks/test waits for. */
  WEBHOOK_DEADLINE_MS: Type.Integer({ minimum: 100, maximum: 15_000, default: 10_000 }),
  /** Deliveries under way at once to one endpoint, over all replicas. */
  WEBHOOK_ENDPOINT_CONCURRENCY: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
  /** Deliveries under way at once in this replica. */
  WEBHOOK_CONCURRENCY: Type.Integer({ minimum: 1, maximum: 2_000, default: 200 }),
  /** How long a delivery is kept after its end, with its attempts. Until then it can be sent again. */
  DELIVERIES_KEEP_DAYS: Type.Integer({ minimum: 3, maximum: 365, default: 14 }),
  /** An endpoint that fails for so long without one success is disabled. */
  WEBHOOK_DISABLE_AFTER_DAYS: Type.Number({ exclusiveMinimum: 0, maximum: 90, default: 5 }),
}

/** Deliveries with their attempts are copies of events, kept so that an operator can have them again. Retries last a day. */
const retentions = [
  {
    table: 'delivery',
    column: 'finished_at',
    keepMs: 14 * dayMs,
    setting: 'DELIVERIES_KEEP_DAYS',
    ofSandbox: sql`endpoint_id like '%/sandbox'`,
  },
  { table: 'secret', column: 'expires_at', keepMs: 30 * dayMs },
  { table: 'missing_delivery', column: 'found_at', keepMs: 30 * dayMs },
  { table: 'delivery_hour', column: 'hour', keepMs: 30 * dayMs },
]

/** What tests put in place of the outside world. */
interface Outside {
  /** Instead of the name servers. */
  readonly resolve?: ResolveHost
  /** Certificate authorities besides the well-known ones. */
  readonly ca?: string
}

/** How much longer than an attempt its lease lasts, so that the outcome can be recorded. */
const leaseMarginMs = 5_000
/** How often an endpoint must have failed before it is disabled. */
const disablingFailuresMin = 20

/** Brings each public event to its operator. */
export const webhooks = defineService({
  name: 'webhooks',
  settings,
  assertSettings: (settings) => void secretBoxFrom(settings),
  plugins: [teamPlugin({ sealedTables })],
  migrations,
  retentions,
  compose({ db, clock, log }, settings, outside: Outside) {
    const box = secretBoxFrom(settings)
    const breaker = {
      concurrencyMax: settings.WEBHOOK_ENDPOINT_CONCURRENCY,
      backoffBaseMs: settings.WEBHOOK_BACKOFF_BASE_MS,
    }
    const disabling = { failingDays: settings.WEBHOOK_DISABLE_AFTER_DAYS, failuresMin: disablingFailuresMin }
    const policy = { allowLoopback: settings.DEVELOPMENT }
    const resolve = outside.resolve ?? (settings.DEVELOPMENT ? systemResolver : nameServerResolver())
    const deadlineMs = patiently(settings.WEBHOOK_DEADLINE_MS)
    const leaseMs = deadlineMs + patiently(leaseMarginMs)
    const concurrency = settings.WEBHOOK_CONCURRENCY
    const authority = outside.ca === undefined ? {} : { ca: outside.ca }
    const send = createSender({ policy, resolve, deadlineMs, keptMax: concurrency, ...authority })
    const random = Math.random
    const scheduler = new Scheduler({ db, clock, log, random, box, breaker, disabling, send, leaseMs, concurrency })
    const reaction = scheduleDelivery((endpointId) => scheduler.nudge(endpointId))
    return {
      operations: handlers({ box, breaker, policy, resolve, send, reaction }),
      reactions: [reaction],
      background: [
        scheduler,
        lostLeaseEnding({ db, log, leaseMs }),
        backlogWithholding({ db, clock, log }),
        deliveryJudge({ db, log }),
      ],
      measurements: [deliveryBacklog(db.reader), deliveryJudgement(db.reader)],
    }
  },
})
