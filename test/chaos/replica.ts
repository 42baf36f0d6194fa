import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServiceName } from '@backoffice/contracts'
import { Child } from '@backoffice/dev-stack'
import { patiently } from '@backoffice/process'
import { eventually } from '@backoffice/test-kit'
import { type Part, signal } from './backends.ts'
import type { Link } from './link.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const steppableClock = fileURLToPath(new URL('./steppable-clock.ts', import.meta.url))
/** /readyz itself waits two seconds for a backend. */
const answerTimeoutMs = 5_000
const stopTimeoutMs = 5_000

export interface ReplicaOptions {
  readonly name: string
  readonly service: ServiceName
  /** Keeps its log and its clock. */
  readonly dir: string
  readonly healthPort: number
  readonly environment: Readonly<Record<string, string>>
  /** What it reaches its backends through, and is reached through itself. */
  readonly links: readonly Link[]
}

/** A service's process that nobody killed has ended. */
export interface UnplannedExit {
  readonly part: string
  readonly how: string
  readonly wasReady: boolean
  readonly logTail: string
}

/** One process of a service. Whenever it ends it is started again, as a cluster does. */
export class Replica implements Part {
  readonly name: string
  readonly links: readonly Link[]
  readonly unplannedExits: UnplannedExit[] = []
  readonly #options: ReplicaOptions
  readonly #clockFile: string
  #child: Child | undefined
  #restarting: Promise<void> = Promise.resolve()
  #isReady = false
  #isKilled = false
  #isStopped = false

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.name = options.name
    this.links = options.links
    this.#clockFile = join(options.dir, `${options.name}.clock`)
    this.stepClock(0)
  }

  async start(): Promise<void> {
    const { service, dir, name, environment, healthPort } = this.#options
    this.#isReady = false
    this.#isKilled = false
    const child = await Child.start({
      name,
      command: process.execPath,
      args: ['--max-semi-space-size=4', '--import', steppableClock, `${root}services/${service}/src/main.ts`],
      cwd: root,
      env: {
        ...process.env,
        ...environment,
        NODE_COMPILE_CACHE: `${root}.cache/compiled`,
        CHAOS_CLOCK_FILE: this.#clockFile,
        HEALTH_HOST: '127.0.0.1',
        HEALTH_PORT: String(healthPort),
      },
      logFile: join(dir, `${name}.log`),
      stopSignal: 'SIGTERM',
      stopTimeoutMs,
    })
    this.#child = child
    // It was asked to stop while this process began.
    if (this.#isStopped) signal(child.pid, 'SIGKILL')
    this.#restarting = child.exited.then(({ code, signal }) =>
      this.#startAgain(child, `${signal ?? `exit status ${code}`}`),
    )
  }

  async untilReady(): Promise<void> {
    await eventually(() => this.#isStopped || this.#looksReady())
  }

  async kill(): Promise<void> {
    this.#isReady = false
    this.#isKilled = true
    const child = this.#child
    if (child !== undefined) {
      signal(child.pid, 'SIGKILL')
      await child.exited
    }
    await this.untilReady()
  }

  freeze(): void {
    if (this.#child?.running) signal(this.#child.pid, 'SIGSTOP')
  }

  thaw(): void {
    if (this.#child?.running) signal(this.#child.pid, 'SIGCONT')
  }

  /** From now on its clock is off by so much. */
  stepClock(offsetMs: number): void {
    writeFileSync(this.#clockFile, String(offsetMs))
    // A process that has only begun would die of the signal. It reads the file anyway.
    if (this.#isReady && this.#child?.running) signal(this.#child.pid, 'SIGUSR2')
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#child?.running) signal(this.#child.pid, 'SIGKILL')
    await this.#restarting
  }

  async #looksReady(): Promise<boolean> {
    const child = this.#child
    const answer = await fetch(`http://127.0.0.1:${this.#options.healthPort}/readyz`, {
      signal: AbortSignal.timeout(patiently(answerTimeoutMs)),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`its /readyz answers ${answer.status}`)
    if (child === undefined || child !== this.#child || !child.running) return false
    this.#isReady = true
    // It may have read its clock before the last step.
    signal(child.pid, 'SIGUSR2')
    return true
  }

  async #startAgain(child: Child, how: string): Promise<void> {
    if (this.#isStopped) return
    if (!this.#isKilled) {
      this.unplannedExits.push({ part: this.name, how, wasReady: this.#isReady, logTail: child.logTail(10) })
    }
    await this.start()
  }
}
