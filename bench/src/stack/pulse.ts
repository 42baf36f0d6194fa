// Loaded into each service while tails are measured (NODE_OPTIONS): notes each second how late its event loop was, and how
// long it collected garbage.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'

export interface Pulse {
  /** Since 1970. */
  readonly second: number
  /** The longest, in this second. */
  readonly loopMs: number
  /** Together. */
  readonly garbageMs: number
}

const everyMs = 1_000

export function watchPulse(beat: (pulse: Pulse) => void): NodeJS.Timeout {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  let garbageMs = 0
  const collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) garbageMs += duration
  })
  collections.observe({ entryTypes: ['gc'] })
  const report = () => {
    beat({ second: Math.floor((Date.now() - everyMs / 2) / 1_000), loopMs: delay.max / 1e6, garbageMs })
    delay.reset()
    garbageMs = 0
  }
  return setInterval(report, everyMs).unref()
}

const { BENCH_PULSE_DIR: dir, OTEL_SERVICE_NAME: name } = process.env
if (dir !== undefined && name !== undefined)
  watchPulse((pulse) => appendFileSync(join(dir, name), `${JSON.stringify(pulse)}\n`))
