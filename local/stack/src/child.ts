import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

let guard: ChildProcess | undefined

/**
 * Sends a line to the guard: a small shell process that outlives this one and ends what it has left running. It needs
 * no cooperation from the servers (PostgreSQL and nats-server cannot watch a parent) and works when this process is
 * killed with SIGKILL.
 */
function writeToGuard(line: string): void {
  if (guard === undefined || guard.exitCode !== null) {
    guard = spawn('/bin/sh', [fileURLToPath(new URL('./guard.sh', import.meta.url))], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    guard.on('error', () => {})
    guard.stdin?.on('error', () => {})
    guard.unref()
    ;(guard.stdin as unknown as { unref(): void }).unref()
  }
  guard.stdin?.write(`${line}\n`)
}

/** Makes the guard end the process group `pid` with `signal` if this process disappears. */
function guardProcess(pid: number, signal: 'TERM' | 'INT'): void {
  writeToGuard(`add ${pid} ${signal}`)
}

/** Must be called once the process has ended, so that a later process with the same number is safe. */
function releaseProcess(pid: number): void {
  writeToGuard(`remove ${pid}`)
}

const checkMs = 1_000
const ancestorsMax = 4

/**
 * Calls `gone` once the npm that started us has ended without telling us, which is what happens when it is killed. Does
 * nothing for a stack that was started without npm: its parent may well end before it, as with nohup.
 */
export function watchStarter(gone: () => void): void {
  const npm = startingNpm()
  if (npm === undefined) return
  const timer = setInterval(() => {
    if (isRunning(npm)) return
    clearInterval(timer)
    gone()
  }, checkMs)
  timer.unref()
}

/** npm starts a shell, which starts us: npm is an ancestor, but not always the parent. */
function startingNpm(): number | undefined {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  let pid = process.ppid
  for (let generation = 0; generation < ancestorsMax && pid > 1; generation += 1) {
    const [parent, ...command] = describe(pid)
    if (command.some((word) => /(^|\/)npm(-cli\.js)?$/.test(word))) return pid
    pid = Number(parent)
  }
  return undefined
}

/** @returns the parent's number and the words of the command, or nothing where `ps` cannot tell. */
function describe(pid: number): string[] {
  try {
    const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' })
    return line.trim().split(/\s+/)
  } catch {
    return []
  }
}

/** Whether there is a process of that number. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

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
  /** Stops the program while it starts. */
  readonly signal?: AbortSignal | undefined
}

const lookEveryMs = 40
/** After so long it says what it waits for, and again each time that it has waited twice as long. */
const saidFirstAfterS = 10

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
  /** How long the log was before: what an earlier run wrote says nothing about this one. */
  readonly #logStart: number

  private constructor(process: ChildProcess, pid: number, options: ChildOptions, logStart: number) {
    this.#process = process
    this.pid = pid
    this.#options = options
    this.#logStart = logStart
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
    const logStart = fstatSync(log).size
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
      return new Child(process, process.pid as number, options, logStart)
    } finally {
      closeSync(log)
    }
  }

  /**
   * Starts a program and resolves once it is ready, however long that takes: a number of seconds would say more about the
   * machine than about the program. What is awaited stands on standard error.
   * @param ready asks the program, until `over` when it has ended
   * @throws with the end of the log when the program ends first
   */
  static async startReady(options: ChildOptions, ready: (over: AbortSignal) => Promise<boolean>): Promise<Child> {
    const child = await Child.start(options)
    const { signal } = options
    const saying = child.#sayWhenLate()
    const stop = () => {
      clearInterval(saying)
      void child.stop()
    }
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
    try {
      await child.#untilReady(ready)
      return child
    } finally {
      clearInterval(saying)
      signal?.removeEventListener('abort', stop)
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

  /** The end of what this run has logged, for a message that says why it died. */
  logTail(lines = 15): string {
    const log = readFileSync(this.#options.logFile).subarray(this.#logStart).toString()
    return log.trimEnd().split('\n').slice(-lines).join('\n')
  }

  async #untilReady(ready: (over: AbortSignal) => Promise<boolean>): Promise<void> {
    const over = new AbortController()
    this.exited.then(() => over.abort())
    for (;;) {
      if (await ready(over.signal).catch(() => false)) return
      if (!this.running) throw new Error(`${this.#options.name} ended while starting:\n${this.logTail()}`)
      await delay(lookEveryMs)
    }
  }

  #sayWhenLate(): NodeJS.Timeout {
    let times = 0
    return setInterval(() => {
      times += 1
      if (!Number.isInteger(Math.log2(times))) return
      const waited = `${times * saidFirstAfterS} s`
      process.stderr.write(
        `still waiting after ${waited} for ${this.#options.name}: ${this.logTail(1) || 'it has logged nothing yet'}\n`,
      )
    }, saidFirstAfterS * 1_000)
  }
}

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
