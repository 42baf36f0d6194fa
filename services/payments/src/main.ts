import {
  type Clock,
  loadConfig,
  type RunningService,
  runService,
  serviceConfig,
  startService,
} from '@backoffice/service-runtime'
import { type Static, Type } from '@sinclair/typebox'
import { startMeasuringUnfinished } from './background/measure-unfinished.ts'
import { startSweeping } from './background/sweep-intents.ts'
import { handlers } from './operations/index.ts'
import { entities } from './storage/entities.ts'

export const paymentsConfig = Type.Composite([
  serviceConfig,
  Type.Object({
    /** How long an intent may wait for its request to come back: longer than any request lasts. */
    INTENT_ABANDON_AFTER_MS: Type.Integer({ minimum: 1, default: 30_000 }),
    INTENT_SWEEP_EVERY_MS: Type.Integer({ minimum: 10, default: 5_000 }),
  }),
])
export type PaymentsConfig = Static<typeof paymentsConfig>

const dayMs = 24 * 3_600_000
/** Intents that came to nothing are kept as long as the stored replies of their operations. */
export const droppedIntents = { table: 'withdrawal', column: 'dropped_at', keepMs: 7 * dayMs }

/** Starts the payments service. */
export function start(config: PaymentsConfig, options: { readonly clock?: Clock } = {}): Promise<RunningService> {
  const { INTENT_SWEEP_EVERY_MS: everyMs, INTENT_ABANDON_AFTER_MS: abandonAfterMs } = config
  return startService({
    name: 'payments',
    config,
    entities,
    operations: () => handlers,
    background: (context) => [startSweeping(context, { everyMs, abandonAfterMs }), startMeasuringUnfinished(context)],
    retentions: [droppedIntents],
    clock: options.clock,
  })
}

if (import.meta.main) await runService(() => start(loadConfig(paymentsConfig, process.env)))
