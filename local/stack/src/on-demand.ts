import { headerNames, type ServiceName, servedSubjects, teamConsole } from '@backoffice/contracts'
import { connectNats } from '@backoffice/rpc'
import type { Child } from './child.ts'
import type { StackSecrets } from './secrets.ts'

type Connection = Awaited<ReturnType<typeof connectNats>>
type Call = NonNullable<Parameters<NonNullable<NonNullable<Parameters<Connection['subscribe']>[1]>['callback']>>[1]>

/** Callers wait less long, and people do not make so many calls. What comes beyond it is dropped, and asked for again. */
const callsMax = 100
/** How long a call rests that came here while the process runs: the process may be the one that is leaving. */
const restMs = 10

export interface OnDemandOptions {
  readonly name: ServiceName
  readonly natsUrl: string
  readonly passwords: StackSecrets['nats']
  /** Starts the process and resolves once it is ready. It ends by itself when nobody needs it any more. */
  readonly start: (signal: AbortSignal) => Promise<Child>
  /** How often it is started without a call, because something is due; 0 is never. */
  readonly everyMs: number
  readonly onRunning: (pid: number) => void
  readonly onEnded: () => void
  readonly onTrouble: (message: string) => void
}

/**
 * Starts a service when somebody of the team calls it, or when something is due, and hands it the calls that came before.
 * It listens beside the running service too, so that a call always finds somebody, also while the service leaves.
 */
export class OnDemand {
  readonly #options: OnDemandOptions
  readonly #own: Connection
  /** The service itself may not call its own operations. The proofs of a call are its caller's, whoever sends it on. */
  readonly #sender: Connection
  readonly #timer: NodeJS.Timeout | undefined
  #calls: { readonly call: Call; readonly at: number }[] = []
  #child: Child | undefined
  #isRunning = false
  #run: Promise<void> | undefined
  readonly #stopping = new AbortController()

  private constructor(options: OnDemandOptions, own: Connection, sender: Connection) {
    this.#options = options
    this.#own = own
    this.#sender = sender
    this.#listen()
    if (options.everyMs === 0) return
    this.#timer = setInterval(() => this.#wake(), options.everyMs)
    this.#wake()
  }

  static async start(options: OnDemandOptions): Promise<OnDemand> {
    const { name, natsUrl, passwords } = options
    const as = (user: ServiceName | typeof teamConsole) =>
      connectNats({ NATS_URL: natsUrl, NATS_USER: user, NATS_PASSWORD: passwords[user] }, { name: `${name} on demand` })
    const [own, sender] = await Promise.all([as(name), as(teamConsole)])
    return new OnDemand(options, own, sender)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#timer)
    await this.#child?.stop()
    await this.#run
    // One that was starting may be ready since.
    await this.#child?.stop()
    await Promise.all([this.#own.close(), this.#sender.close()])
  }

  #listen(): void {
    const { name } = this.#options
    this.#own.subscribe(servedSubjects(name).team, {
      queue: name,
      callback: (error, call) => {
        if (error !== null || this.#calls.length >= callsMax) return
        this.#calls.push({ call, at: performance.now() })
        if (this.#isRunning) setTimeout(() => this.#handOver(), restMs)
        else this.#wake()
      },
    })
  }

  #wake(): void {
    if (this.#stopping.signal.aborted) return
    this.#run ??= this.#startAndWatch()
      .catch((error) => this.#options.onTrouble(`${this.#options.name} could not be started: ${error.message}`))
      .finally(() => {
        this.#run = undefined
        if (this.#calls.length > 0) this.#wake()
      })
  }

  async #startAndWatch(): Promise<void> {
    try {
      this.#child = await this.#options.start(this.#stopping.signal)
    } catch (error) {
      // Nobody waits for them for ever, and the next call tries again.
      this.#calls = []
      throw error
    }
    const { exited, pid } = this.#child
    this.#options.onRunning(pid)
    this.#isRunning = true
    this.#handOver()
    await exited
    this.#isRunning = false
    this.#options.onEnded()
  }

  /**
   * Sends on what came meanwhile, to be replied to where the caller waits. What comes back here, and not to the process,
   * is sent on again, or waits for the next process when this one has left.
   */
  #handOver(): void {
    if (!this.#isRunning) return
    const calls = this.#calls
    this.#calls = []
    for (const { call, at } of calls) {
      const { subject, data, headers, reply } = call
      const leftMs = Math.floor(Number(headers?.get(headerNames.timeoutMs)) - (performance.now() - at))
      if (headers === undefined || reply === undefined || !(leftMs > 0)) continue
      headers.set(headerNames.timeoutMs, String(leftMs))
      this.#sender.publish(subject, data, { headers, reply })
    }
  }
}
