import { setTimeout as delay } from 'node:timers/promises'
import type { Child, Exit } from './child.ts'

const backoffFirstMs = 200
const backoffMaxMs = 5_000
/** A process that ran this long before it ended is restarted at once, whatever happened before. */
const steadyAfterMs = 30_000

export interface SupervisedOptions {
  readonly name: string
  /** Starts the process and resolves once it is ready. Called again for each restart: same port, same data. */
  readonly start: (signal: AbortSignal) => Promise<Child>
  /** A new process number, first start included. */
  readonly onRunning: (pid: number) => void
  readonly onTrouble: (message: string) => void
}

/** Keeps one process running: whatever ends it, it is started again, more slowly each time it fails. */
export class SupervisedProcess {
  readonly name: string
  readonly #options: SupervisedOptions
  #child: Child | undefined
  readonly #stopping = new AbortController()
  #watching: Promise<void> = Promise.resolve()

  constructor(options: SupervisedOptions) {
    this.name = options.name
    this.#options = options
  }

  /** @throws when the first start fails: a stack that cannot start reports that, and does not try for ever. */
  async start(): Promise<void> {
    const child = await this.#run()
    this.#watching = this.#watch(child)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#child?.stop()
    await this.#watching
    // A restart that was under way when we stopped may have finished after the line above.
    await this.#child?.stop()
  }

  async #run(): Promise<Child> {
    const child = await this.#options.start(this.#stopping.signal)
    this.#child = child
    this.#options.onRunning(child.pid)
    return child
  }

  async #watch(first: Child): Promise<void> {
    let child = first
    let failures = 0
    for (;;) {
      const startedAt = Date.now()
      const exit = await child.exited
      if (this.#stopping.signal.aborted) return
      if (Date.now() - startedAt > steadyAfterMs) failures = 0
      this.#options.onTrouble(`${this.name} ended (${describeExit(exit)}); starting it again`)
      const next = await this.#restart(failures)
      if (next === undefined) return
      child = next
      failures += 1
    }
  }

  /** @returns undefined when the stack stops meanwhile. */
  async #restart(failuresBefore: number): Promise<Child | undefined> {
    for (let failures = failuresBefore; !this.#stopping.signal.aborted; failures += 1) {
      // The first restart of a process that ran well does not wait.
      const pauseMs = failures === 0 ? 0 : Math.min(backoffFirstMs * 2 ** (failures - 1), backoffMaxMs)
      await delay(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
      if (this.#stopping.signal.aborted) return undefined
      try {
        return await this.#run()
      } catch (error) {
        this.#options.onTrouble(`${this.name} could not be started again: ${(error as Error).message}`)
      }
    }
    return undefined
  }
}

function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit status ${code}` : signal
}
