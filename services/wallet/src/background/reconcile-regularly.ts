import { Loop, type ServiceContext } from '@backoffice/service-runtime'
import type { Reconciler } from '../reconciliation/reconciler.ts'

const lookEveryMsMax = 10_000

/** Begins one reconciliation in each period, on the first replica to do so: the run's id names the period. */
export const regularReconciliation = (
  { clock, log }: Pick<ServiceContext, 'clock' | 'log'>,
  reconciler: Pick<Reconciler, 'begin'>,
  everyMs: number,
): Loop =>
  new Loop({
    name: 'regular reconciliation',
    log,
    everyMs: Math.min(lookEveryMsMax, everyMs),
    run: async () => {
      const period = Math.floor(clock.now().getTime() / everyMs)
      await reconciler.begin({ id: `reconciliation_${everyMs}_${period}`, startedBy: 'schedule' })
    },
  })
