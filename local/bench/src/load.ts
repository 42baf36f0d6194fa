import { setTimeout as wait } from 'node:timers/promises'
import type { HttpReply, OperatorClient } from '@backoffice/test-kit'
import { percentile, type Sample } from './figures.ts'
import type { Options } from './options.ts'
import { CpuClock, type Processes } from './processes.ts'

/** What happened under a load. Successes count only inside the window, failures always. */
export class Load {
  /** How long each operation took that ended inside the window. One may take several requests. */
  readonly operationsMs: number[] = []
  /** Latencies of single requests, from sending to the complete reply. */
  readonly requestsMs: number[] = []
  readonly failures = new Map<string, number>()
  isOpen = false
  windowMs = 0

  replied(sentAtMs: number): void {
    if (this.isOpen) this.requestsMs.push(performance.now() - sentAtMs)
  }

  done(begunAtMs: number): void {
    if (this.isOpen) this.operationsMs.push(performance.now() - begunAtMs)
  }

  failed(what: string): void {
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1)
  }

  /**
   * One request of an operator.
   * @returns undefined when there is no reply, or one with another status
   */
  async request(what: string, status: number, send: () => ReturnType<OperatorClient['send']>) {
    const sentAtMs = performance.now()
    const reply: HttpReply | Error = await send().catch((error: Error) => error)
    if (reply instanceof Error) return this.failed(`${what}: ${reply.message}`)
    this.replied(sentAtMs)
    if (reply.status === status) return reply
    return this.failed(`${what}: ${reply.status} ${reply.body?.error?.code ?? ''}`.trim())
  }
}

/**
 * One operation of a client. It reports its requests and failures to the load. An exception is a fault of the bench
 * itself and ends the run.
 */
export type Work = (load: Load) => Promise<void>

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
  const client = async () => {
    while (running) {
      const begunAtMs = performance.now()
      await work(load)
      load.done(begunAtMs)
    }
  }
  const clients = Promise.all(Array.from({ length: settings.clients }, client))
  // Only a fault of a client ends the wait early.
  const during = (ms: number) => Promise.race([wait(ms), clients])
  await during(settings.warmUpMs)
  settings.opened?.()
  load.isOpen = true
  const openedAtMs = performance.now()
  await during(settings.windowMs)
  const endMs = openedAtMs + settings.windowMs * windowsMax
  while (load.operationsMs.length < settings.clients * turnsMin && performance.now() < endMs) await during(lookEveryMs)
  load.isOpen = false
  load.windowMs = performance.now() - openedAtMs
  settings.closed?.()
  running = false
  await clients
  return load
}

interface LoadSettings {
  readonly options: Pick<Options, 'windowMs' | 'warmUpMs'>
  readonly clients: number
  /** The servers, whose processor time is counted by process. Everything else below the bench is the client's. */
  readonly processes: () => Processes
}

/** Puts load on something and measures operations a second, latencies and processor time per operation. */
export async function measureLoad({ options, clients, processes }: LoadSettings, work: Work): Promise<Sample> {
  const { windowMs, warmUpMs } = options
  const clock = new CpuClock(processes)
  const marks = { opened: () => clock.start(), closed: () => clock.stop() }
  const load = await closedLoop({ clients, warmUpMs, windowMs, ...marks }, work)
  const operations = load.operationsMs.length
  return {
    figures: {
      perSecond: (operations * 1_000) / load.windowMs,
      operationP50Ms: percentile(load.operationsMs, 0.5),
      p50Ms: percentile(load.requestsMs, 0.5),
      p99Ms: percentile(load.requestsMs, 0.99),
      ...clock.figures(operations),
    },
    failures: { ...Object.fromEntries(load.failures), ...clock.failures() },
  }
}
