import { setTimeout as wait } from 'node:timers/promises'

/** What happened under a load. Successes count only inside the window, failures always. */
export class Load {
  /** How long each operation took that ended inside the window. One may take several requests. */
  readonly operationsMs: number[] = []
  /** Latencies of single requests, from sending to the complete reply. */
  readonly requestsMs: number[] = []
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

  done(begunAtMs: number): void {
    if (this.#isOpen) this.operationsMs.push(performance.now() - begunAtMs)
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

interface ClosedLoop {
  readonly clients: number
  /** Time before the window, in which connections are made and code is compiled. */
  readonly warmUpMs: number
  readonly windowMs: number
  /** Called when the window begins and when it ends. */
  readonly opened?: () => void
  readonly closed?: () => void
}

/** A window is extended until each client has had this many turns, but not for ever. */
const turnsMin = 3
const windowsMax = 5
const lookEveryMs = 20

/** Clients that each begin their next operation when their last one has ended. */
export async function closedLoop(settings: ClosedLoop, work: Work): Promise<Load> {
  const load = new Load()
  let running = true
  const client = async (number: number) => {
    while (running) {
      const begunAtMs = performance.now()
      await work(number, load)
      load.done(begunAtMs)
    }
  }
  const clients = Promise.all(Array.from({ length: settings.clients }, (_, number) => client(number)))
  // Only a fault of a client ends the wait early.
  const during = (ms: number) => Promise.race([wait(ms), clients])
  await during(settings.warmUpMs)
  settings.opened?.()
  load.open()
  await during(settings.windowMs)
  const endMs = performance.now() + settings.windowMs * (windowsMax - 1)
  while (load.operationsMs.length < settings.clients * turnsMin && performance.now() < endMs) await during(lookEveryMs)
  load.close()
  settings.closed?.()
  running = false
  await clients
  return load
}
