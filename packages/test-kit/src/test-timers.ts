import type { Timer, Timers } from '@backoffice/process'
import { eventually } from './eventually.ts'
import type { Teardown } from './test-bed.ts'

interface Waiting {
  readonly run: () => void
  readonly atMs: number
  /** While time runs by itself. */
  real?: NodeJS.Timeout
}

/** Timers that run by themselves like a program's own, until a test stops them. It then moves them by hand. */
export class TestTimers implements Timers {
  readonly #waiting = new Set<Waiting>()
  readonly #originMs = Math.round(Date.now() - performance.now())
  #aheadMs = 0
  #stoppedAtMs: number | undefined

  now(): number {
    return Math.floor(this.#originMs + this.monotonic())
  }

  monotonic(): number {
    return this.#stoppedAtMs ?? performance.now() + this.#aheadMs
  }

  setTimeout(run: () => void, ms: number): Timer {
    const waiting: Waiting = { run, atMs: this.monotonic() + ms }
    this.#waiting.add(waiting)
    this.#arm(waiting)
    return waiting
  }

  clearTimeout(timer: Timer | undefined): void {
    const waiting = timer as Waiting | undefined
    if (waiting === undefined) return
    clearTimeout(waiting.real)
    this.#waiting.delete(waiting)
  }

  /** From now on nothing is due but by `advance`, until `t` ends. */
  stop(t: Teardown): void {
    this.#stop()
    t.teardown(() => this.#go())
  }

  /** Runs what is due in that time, each at its own moment. */
  advance(ms: number): void {
    const runs = this.#stoppedAtMs === undefined
    this.#stop()
    const untilMs = this.monotonic() + ms
    for (let next = this.#next(); next !== undefined && next.atMs <= untilMs; next = this.#next()) {
      this.#stoppedAtMs = Math.max(this.monotonic(), next.atMs)
      this.#waiting.delete(next)
      next.run()
    }
    this.#stoppedAtMs = untilMs
    if (runs) this.#go()
  }

  /** Waits for what the services do again and again: at each look another second has passed for them. */
  eventually<T>(probe: () => T | false | Promise<T | false>): Promise<Exclude<T, false>> {
    return eventually(() => {
      this.advance(1_000)
      return probe()
    })
  }

  /** At a whole millisecond, so that what is left of a time is exact. */
  #stop(): void {
    this.#stoppedAtMs = Math.ceil(this.monotonic())
    for (const { real } of this.#waiting) clearTimeout(real)
  }

  /** From where it stands. */
  #go(): void {
    this.#aheadMs = this.monotonic() - performance.now()
    this.#stoppedAtMs = undefined
    for (const waiting of this.#waiting) this.#arm(waiting)
  }

  #next(): Waiting | undefined {
    return [...this.#waiting].sort((a, b) => a.atMs - b.atMs)[0]
  }

  #arm(waiting: Waiting): void {
    if (this.#stoppedAtMs !== undefined) return
    waiting.real = setTimeout(
      () => {
        this.#waiting.delete(waiting)
        waiting.run()
      },
      Math.max(0, waiting.atMs - this.monotonic()),
    )
  }
}
