import type { Background, ServiceContext } from '@backoffice/service-runtime'
import type { Reconciler } from '../reconciliation/reconciler.ts'
import { every } from './every.ts'

const lookEveryMs = 10_000

/** Begins a reconciliation in each period, on whichever replica is first: a run's id names its period. */
export function startReconcilingRegularly(
  { clock, log }: Pick<ServiceContext, 'clock' | 'log'>,
  reconciler: Pick<Reconciler, 'begin'>,
  everyMs: number,
): Background {
  return every(Math.min(lookEveryMs, everyMs), async () => {
    const period = Math.floor(clock.now().getTime() / everyMs)
    const id = `reconciliation_${everyMs}_${period}`
    await reconciler
      .begin({ id, startedBy: 'schedule' })
      .catch((error) => log.warn({ err: error }, 'a reconciliation could not be begun; the next look tries again'))
  })
}
