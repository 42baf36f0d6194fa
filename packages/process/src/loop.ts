import type { Logger } from './log.ts'

export interface LoopOptions {
  /** @returns whether there may be more to do at once */
  // biome-ignore lint/suspicious/noConfusingVoidType: most work has nothing to return
  readonly run: () => Promise<boolean | void>
  readonly everyMs: number
  /** Waits this long before its first run; at once when left out. */
  readonly firstAfterMs?: number
  readonly log: Logger
  /** What it does, for the log. For example `purging`. */
  readonly name: string
}

/** Runs something again and again, never twice at once: whenever it is nudged, and every `everyMs` in any case. */
export class Loop {
  readonly #options: LoopOptions
  #running: Promise<void> | undefined
  #nudged = false
  #stopped = false
  #wake: (() => void) | undefined

  constructor(options: LoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#goOn()
  }

  /** Finishes the run under way, and one more if it was nudged meanwhile. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake?.()
    await this.#running
    if (this.#nudged) await this.#attempt()
  }

  /** There is something to do now. */
  nudge(): void {
    this.#nudged = true
    this.#wake?.()
  }

  async #goOn(): Promise<void> {
    const { firstAfterMs, everyMs } = this.#options
    if (firstAfterMs !== undefined) await this.#sleep(firstAfterMs)
    while (!this.#stopped) {
      this.#nudged = false
      const more = await this.#attempt()
      if (!more && !this.#nudged && !this.#stopped) await this.#sleep(everyMs)
    }
  }

  async #attempt(): Promise<boolean> {
    try {
      return (await this.#options.run()) === true
    } catch (error) {
      this.#options.log.warn(
        { err: error, loop: this.#options.name },
        'a background run failed; the next one tries again',
      )
      return false
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      const timer = setTimeout(finish, ms)
      this.#wake = finish
      // It was nudged or stopped before it slept, so there is nothing to wait for.
      if (this.#stopped) finish()
    })
  }
}
