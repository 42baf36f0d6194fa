/** A timer further away than this is left to the regular look at everything. */
const timerMaxMs = 60_000

/** What the scheduler has to look at next, and when: nudges are gathered while it is busy, and end its wait at once. */
export class Wakeups {
  readonly #nudged = new Set<string>()
  #all = true
  #wake: (() => void) | undefined
  #closed = false
  #lookedAtAllMs = Number.NEGATIVE_INFINITY

  nudge(id: string): void {
    this.#nudged.add(id)
    this.#wake?.()
  }

  nudgeAt(id: string, inMs: number): void {
    if (this.#closed || inMs > timerMaxMs) return
    // A millisecond late rather than early: what is not due yet would wait for the next look.
    setTimeout(() => this.nudge(id), Math.max(0, inMs) + 1).unref()
  }

  lookAtAll(): void {
    this.#all = true
    this.#wake?.()
  }

  close(): void {
    this.#closed = true
    this.#wake?.()
  }

  /**
   * Waits for a nudge, or until everything was last looked at `everyMs` ago.
   * @returns the ids to look at; null for all
   */
  async next(everyMs: number): Promise<readonly string[] | null> {
    const restMs = this.#lookedAtAllMs + everyMs - performance.now()
    if (!this.#all && this.#nudged.size === 0 && !this.#closed && restMs > 0) await this.#wait(restMs)
    const isTimeForAll = this.#all || performance.now() - this.#lookedAtAllMs >= everyMs
    const ids = [...this.#nudged]
    this.#nudged.clear()
    if (!isTimeForAll) return ids
    this.#all = false
    this.#lookedAtAllMs = performance.now()
    return null
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#wake = done
    })
  }
}
