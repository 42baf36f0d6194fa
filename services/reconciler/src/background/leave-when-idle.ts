import { servedSubjects } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import type { Background, ServiceContext } from '@backoffice/service-runtime'
import type { Reconciler } from '../reconciliation/reconciler.ts'

const lookEveryMsMax = 1_000

/**
 * Ends the process when nobody has called it for so long and no run is under way. Whoever started it, because of a call or
 * because a run was due, starts it again.
 */
export function leavingWhenIdle(
  { nats, log }: Pick<ServiceContext, 'nats' | 'log'>,
  reconciler: Pick<Reconciler, 'isRunning'>,
  { idleMs, leave }: { readonly idleMs: number; readonly leave: () => void },
): Background {
  let usedAt = performance.now()
  const use = () => {
    usedAt = performance.now()
  }
  // Beside those who serve the calls: it only hears that there are some.
  const calls = nats.subscribe(servedSubjects('reconciler').team, { callback: use })
  const loop = new Loop({
    name: 'leaving when idle',
    log,
    everyMs: Math.min(lookEveryMsMax, idleMs),
    run: async () => {
      if (reconciler.isRunning) use()
      if (performance.now() - usedAt >= idleMs) leave()
    },
  })
  return {
    start: () => loop.start(),
    async stop() {
      calls.unsubscribe()
      await loop.stop()
    },
  }
}
