import { servedSubjects } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import type { Background, ServiceContext } from '@backoffice/service-runtime'
import { readOtherDatabases } from '../reconciliation/clock-steps.ts'
import type { Reconciler } from '../reconciliation/reconciler.ts'
import { overlapMs } from '../reconciliation/sources.ts'
import { keepMoment, piecesInAll } from '../storage/reconciliations.ts'

const lookEveryMsMax = 10_000

interface Schedule {
  readonly everyMs: number
  /** How often a run is a full one, and how long after midnight (UTC) that period begins. */
  readonly fullEveryMs: number
  readonly fullOffsetMs: number
  /** Within which time such runs prove everything. */
  readonly fullWithinMs: number
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
  { everyMs, fullEveryMs, fullOffsetMs, fullWithinMs, after }: Schedule,
): Loop =>
  new Loop({
    name: 'regular reconciliation',
    log,
    everyMs: Math.min(lookEveryMsMax, everyMs),
    run: async () => {
      await after
      const now = clock.now().getTime()
      const piecesMax = Math.ceil((piecesInAll * fullEveryMs) / fullWithinMs)
      const fullSince = new Date(Math.floor((now - fullOffsetMs) / fullEveryMs) * fullEveryMs + fullOffsetMs)
      await reconciler.beginScheduled({
        id: `reconciliation_${everyMs}_${Math.floor(now / everyMs)}`,
        fullSince,
        piecesMax,
      })
    },
  })

/**
 * Keeps moments between runs too. A clock that goes back by more than times may differ, and catches up before the next run,
 * shows between two of these.
 */
export const regularMoments = ({ db, log }: Pick<ServiceContext, 'db' | 'log'>): Loop =>
  new Loop({
    name: 'moments',
    log,
    everyMs: overlapMs / 2,
    run: async () => keepMoment(db, 'between runs', new Set((await readOtherDatabases(db.reader)).values())),
  })

const idleLookEveryMs = 1_000

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
    everyMs: Math.min(idleLookEveryMs, idleMs),
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
