/** What happened under a load. Successes count only inside the window, failures always. */
export class Load {
  /** How many operations ended inside the window. One may take several requests. */
  operations = 0
  /** Latencies of single requests, from sending to the complete reply. */
  readonly requestsMs: number[] = []
  /** Latencies of whole operations, from the moment they were meant to begin. Only an open loop has such a moment. */
  readonly operationsMs: number[] = []
  readonly failures = new Map<string, number>()
  #isOpen = false
  #openedAtMs = 0
  #openMs = 0

  open(): void {
    this.#isOpen = true
    this.#openedAtMs = performance.now()
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#openMs = performance.now() - this.#openedAtMs
  }

  get windowMs(): number {
    return this.#openMs
  }

  replied(sentAtMs: number): void {
    if (this.#isOpen) this.requestsMs.push(performance.now() - sentAtMs)
  }

  done(meantAtMs?: number): void {
    if (!this.#isOpen) return
    this.operations += 1
    if (meantAtMs !== undefined) this.operationsMs.push(performance.now() - meantAtMs)
  }

  failed(what: string): void {
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1)
  }
}

/**
 * One operation of one of the clients, which are numbered from 0. It reports its requests and failures to the load. An
 * exception is a fault of the bench itself and ends the run.
 */
export type Work = (client: number, load: Load) => Promise<void>
