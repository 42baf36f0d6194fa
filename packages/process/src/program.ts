import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { startHealthServer } from './health.ts'
import { patiently } from './limits.ts'
import type { Logger } from './log.ts'
import { flushTelemetry } from './telemetry/flush.ts'
import { waitAtMost } from './time.ts'

/** One step of stopping. It may be late: an unavailable backend must not hold up the process. */
export interface StoppingStep {
  /** For the log. */
  readonly what: string
  readonly msMax: number
  readonly stop: () => Promise<unknown>
  /** What is done when it takes too long. */
  readonly late?: () => unknown
}

interface Program {
  readonly log: Logger
  readonly settings: { readonly DRAIN_DELAY_MS: number; readonly HEALTH_HOST: string; readonly HEALTH_PORT: number }
  /** Whether it can work now. Not asked any more once it drains. */
  readonly ready: () => Promise<boolean>
  /** Called at once when the process is asked to stop. */
  readonly leave?: () => void
  /**
   * Taken one after the other. Together with the telemetry's own limit they stay below 25 s, because Kubernetes kills the
   * process after its grace period.
   */
  readonly stopping: readonly StoppingStep[]
}

export interface StartedProgram {
  readonly healthPort: number
  /** Fails /readyz, goes on for DRAIN_DELAY_MS, and takes the steps of stopping. Safe to call twice. */
  drain(): Promise<void>
}

/** Says that a program works, once it does, and ends it in order. */
export async function startProgram({ log, settings, ready, leave, stopping }: Program): Promise<StartedProgram> {
  let draining: Promise<void> | undefined
  giveBackMemory()
  giveBackAtRest()
  const health = await startHealthServer({
    host: settings.HEALTH_HOST,
    port: settings.HEALTH_PORT,
    ready: async () => draining === undefined && (await ready()),
  })
  log.info({ healthPort: health.port }, 'started')

  async function stop(): Promise<void> {
    leave?.()
    await wait(settings.DRAIN_DELAY_MS)
    for (const { what, msMax, stop, late } of stopping) {
      const stopped = Promise.try(stop).catch((err) => log.warn({ what, err }, 'could not stop'))
      await waitAtMost(patiently(msMax), stopped, () => {
        log.warn({ what }, 'stopped without waiting any longer')
        return late?.()
      })
    }
    await flushTelemetry()
    await health.close()
    log.info('drained')
  }
  return {
    healthPort: health.port,
    drain() {
      draining ??= stop()
      return draining
    },
  }
}

/**
 * The empty part of the heap, which loading the program and each busy time leave: a third of it and more. A collection
 * that Node starts by itself leaves the heap as large as it was. Whatever starts a service gives --expose-gc.
 */
const giveBackMemory = () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })

const lookEveryMs = 10_000
/** Health checks and the program's own looks take less of that time. */
const restMs = 300

/** After each busy time, once the program rests: it stands still for some 30 ms then, which nobody is there to notice. */
function giveBackAtRest(): void {
  let [seen, worked] = [performance.eventLoopUtilization(), false]
  const look = () => {
    const now = performance.eventLoopUtilization()
    const rests = performance.eventLoopUtilization(now, seen).active < restMs
    if (rests && worked) giveBackMemory()
    seen = now
    worked = !rests
  }
  setInterval(look, lookEveryMs).unref()
}
