import { Loop, type ServiceContext } from '@backoffice/service-runtime'
import type { Reconciler } from '../reconciliation/reconciler.ts'

const lookEveryMsMax = 10_000

/** Begins a reconciliation in each period, on whichever replica is first: a run's id names its period. */
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
