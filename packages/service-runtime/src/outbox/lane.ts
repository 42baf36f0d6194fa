import type { Logger } from '../log.ts'

/** What a crashed or disconnected replica left is found within this time; everything else is nudged. */
const pollMs = 1_000

/** Runs batches one after another for as long as they find something, and then waits for a nudge or the next poll. */
export class Lane {
  readonly #runBatch: () => Promise<number>
  readonly #log: Logger
  #running: Promise<void> | undefined
  #nudged = false
  #stopped = false
  #wake: (() => void) | undefined

  /** @param runBatch answers how much it got done */
  constructor(runBatch: () => Promise<number>, log: Logger) {
    this.#runBatch = runBatch
    this.#log = log
  }

  start(): void {
    this.#running = this.#loop()
  }

  /** Finishes the batch under way, and one more if something was nudged meanwhile. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake?.()
    await this.#running
    if (this.#nudged) await this.#attempt()
  }

  nudge(): void {
    this.#nudged = true
    this.#wake?.()
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      this.#nudged = false
      const done = await this.#attempt()
      if (done === 0 && !this.#nudged && !this.#stopped) await this.#sleep()
    }
  }

  async #attempt(): Promise<number> {
    try {
      return await this.#runBatch()
    } catch (error) {
      this.#log.warn({ err: error }, 'the outbox relay could not run; it tries again')
      return 0
    }
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      const timer = setTimeout(finish, pollMs)
      this.#wake = finish
    })
  }
}
