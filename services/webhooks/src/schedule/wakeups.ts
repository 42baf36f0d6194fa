/** Some deliveries fall due without a nudge: another replica's retries, a lost lease. Looking at everything finds them. */
export const lookAtAllEveryMs = 1_000
/** What is due later than this gets no timer: the look at everything finds it. */
const timerMaxMs = 60_000
/** How soon an endpoint that another transaction has locked is looked at again. */
const lookAgainMs = 50

/**
 * Collects the endpoints that the scheduler has to look at next. Each nudge wakes the scheduler; nudges that come
 * meanwhile are handled together.
 */
export class Wakeups {
  readonly #wake: () => void
  readonly #nudged = new Set<string>()
  readonly #again = new Set<string>()
  #lookedAtAllMs = Number.NEGATIVE_INFINITY

  constructor(wake: () => void) {
    this.#wake = wake
  }

  nudge(id: string): void {
    this.#nudged.add(id)
    this.#wake()
  }

  nudgeAt(id: string, inMs: number): void {
    if (inMs > timerMaxMs) return
    // One millisecond late rather than early: a delivery that is not due yet would wait for the next look at
    // everything.
    setTimeout(() => this.nudge(id), Math.max(0, inMs) + 1).unref()
  }

  /** One timer for all of them, so that endpoints that are locked for long cause little work. */
  lookAgain(ids: readonly string[]): void {
    if (this.#again.size === 0 && ids.length > 0) setTimeout(() => this.#nudgeAgain(), lookAgainMs).unref()
    for (const id of ids) this.#again.add(id)
  }

  lookAtAll(): void {
    this.takeAllNext()
    this.#wake()
  }

  /** Makes the next look one at everything, because what was taken before was not looked at. */
  takeAllNext(): void {
    this.#lookedAtAllMs = Number.NEGATIVE_INFINITY
  }

  /**
   * What to look at now: the endpoints that were nudged. Null means all: when there was no nudge, or when it is time
   * for it.
   */
  take(): readonly string[] | null {
    const nowMs = performance.now()
    const ids = [...this.#nudged]
    this.#nudged.clear()
    if (ids.length > 0 && nowMs - this.#lookedAtAllMs < lookAtAllEveryMs) return ids
    this.#lookedAtAllMs = nowMs
    return null
  }

  #nudgeAgain(): void {
    for (const id of this.#again) this.#nudged.add(id)
    this.#again.clear()
    this.#wake()
  }
}
