/** What went on while a load ran. Only what ends inside the window counts; what fails counts whenever it does. */
export class Load {
  /** Of operations that ended inside the window: one may be several requests. */
  operations = 0
  /** Of single requests, from sending to the whole answer. */
  readonly requestsMs: number[] = []
  /** Of whole operations, from the moment they were meant to begin. Only an open loop means a moment. */
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

  answered(sentAtMs: number): void {
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
 * One operation, by one of the clients (0 and up). It reports its requests, and what failed, to the load; an exception is
 * a fault of the bench itself and ends the run.
 */
export type Work = (client: number, load: Load) => Promise<void>
