import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { guardProcess, releaseProcess } from './guard.ts'

export interface ChildOptions {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly uid?: number
  readonly gid?: number
  /** Standard output and errors are appended here. */
  readonly logFile: string
  /** The signal that asks this program to finish in good order. */
  readonly stopSignal: 'SIGTERM' | 'SIGINT'
  /** How long it may take to finish before it is killed. */
  readonly stopTimeoutMs: number
  /**
   * For a program with processes of its own, which a SIGKILL would leave running: asks it to end them and itself at once.
   * It gets this signal after `stopTimeoutMs`, and is killed after as long again.
   */
  readonly abortSignal?: 'SIGQUIT'
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * A process in a group of its own, so that Ctrl-C in the terminal reaches only this process, which stops the others in
 * order.
 */
export class Child {
  readonly pid: number
  readonly exited: Promise<Exit>
  readonly #process: ChildProcess
  readonly #options: ChildOptions

  private constructor(process: ChildProcess, pid: number, options: ChildOptions) {
    this.#process = process
    this.pid = pid
    this.#options = options
    this.exited = new Promise((resolve) => {
      process.once('exit', (code, signal) => {
        releaseProcess(pid)
        resolve({ code, signal })
      })
    })
    guardProcess(pid, options.stopSignal === 'SIGINT' ? 'INT' : 'TERM')
  }

  /** @throws when the program cannot be started at all. */
  static async start(options: ChildOptions): Promise<Child> {
    const log = openSync(options.logFile, 'a', 0o600)
    try {
      const { command, args, env, cwd, uid, gid } = options
      const process = spawn(command, args, {
        env,
        stdio: ['ignore', log, log],
        detached: true,
        ...(cwd === undefined ? {} : { cwd }),
        ...(uid === undefined ? {} : { uid }),
        ...(gid === undefined ? {} : { gid }),
      })
      await once(process, 'spawn')
      return new Child(process, process.pid as number, options)
    } finally {
      closeSync(log)
    }
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Lets this process end although the child runs; the guard then ends the child. */
  unref(): void {
    this.#process.unref()
  }

  async stop(): Promise<Exit> {
    if (this.running) {
      this.#process.ref()
      const { stopSignal, abortSignal } = this.#options
      if (!(await this.#endsBy(stopSignal)) && !(abortSignal !== undefined && (await this.#endsBy(abortSignal))))
        this.#process.kill('SIGKILL')
    }
    return this.exited
  }

  /** Whether the process ends within `stopTimeoutMs` of the signal. */
  async #endsBy(signal: NodeJS.Signals): Promise<boolean> {
    this.#process.kill(signal)
    const patience = new AbortController()
    const late = delay(this.#options.stopTimeoutMs, false, { signal: patience.signal, ref: false }).catch(() => true)
    try {
      return await Promise.race([this.exited.then(() => true), late])
    } finally {
      patience.abort()
    }
  }

  /** The end of the log, for a message that says why it died. */
  logTail(lines = 15): string {
    return tailOf(this.#options.logFile, lines)
  }

  /**
   * Waits until `ready` says true.
   * @throws with the end of the log when the process ends first or `timeoutMs` passes.
   */
  async waitUntil(ready: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      if (!this.running) throw new Error(`${this.#options.name} ended while starting:\n${this.logTail()}`)
      if (await ready().catch(() => false)) return
      if (Date.now() > deadline) {
        throw new Error(`${this.#options.name} was not ready within ${timeoutMs / 1000} s:\n${this.logTail()}`)
      }
      await delay(40)
    }
  }
}

function tailOf(file: string, lines: number): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
}
