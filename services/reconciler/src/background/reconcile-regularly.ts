import { Loop } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import type { Reconciler } from '../reconciliation/reconciler.ts'

const lookEveryMsMax = 10_000

export interface Schedule {
  readonly everyMs: number
  /** How often a run is a full one, and how long after midnight (UTC) that period begins. */
  readonly fullEveryMs: number
  readonly fullOffsetMs: number
  /** What the first run waits for. */
  readonly after: Promise<void>
}

/**
 * Begins one reconciliation in each period, on the first replica to do so: the run's id names the period. It is a full one
 * until there was one in the longer period, so a full run that its process did not survive is repeated in the next period.
 */
export const regularReconciliation = (
  { clock, log }: Pick<ServiceContext, 'clock' | 'log'>,
  reconciler: Pick<Reconciler, 'beginScheduled'>,
  { everyMs, fullEveryMs, fullOffsetMs, after }: Schedule,
): Loop =>
  new Loop({
    name: 'regular reconciliation',
    log,
    everyMs: Math.min(lookEveryMsMax, everyMs),
    run: async () => {
      await after
      const now = clock.now().getTime()
      const fullSince = new Date(Math.floor((now - fullOffsetMs) / fullEveryMs) * fullEveryMs + fullOffsetMs)
      await reconciler.beginScheduled({ id: `reconciliation_${everyMs}_${Math.floor(now / everyMs)}`, fullSince })
    },
  })
