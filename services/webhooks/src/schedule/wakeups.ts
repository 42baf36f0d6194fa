/** Some deliveries fall due without a nudge: another replica's retries, a lost lease. Looking at everything finds them. */
export const lookAtAllEveryMs = 1_000
/** A timer further away than this is left to the look at everything. */
const timerMaxMs = 60_000
/** An endpoint that somebody else holds at the moment is looked at again after so long. */
const lookAgainMs = 50

/** Which endpoints the scheduler has to look at next. Each nudge wakes it; what comes meanwhile is looked at together. */
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
    // A millisecond late rather than early: what is not due yet would wait for the next look at everything.
    setTimeout(() => this.nudge(id), Math.max(0, inMs) + 1).unref()
  }

  /** One timer for all of them, so that looking again and again at a few makes no more work than once. */
  lookAgain(ids: readonly string[]): void {
    if (this.#again.size === 0 && ids.length > 0) setTimeout(() => this.#nudgeAgain(), lookAgainMs).unref()
    for (const id of ids) this.#again.add(id)
  }

  lookAtAll(): void {
    this.takeAllNext()
    this.#wake()
  }

  /** Whoever is woken next looks at everything: what was taken before was not looked at. */
  takeAllNext(): void {
    this.#lookedAtAllMs = Number.NEGATIVE_INFINITY
  }

  /** What to look at now: some endpoints, or null for all, when nobody was nudged or it is time. */
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
