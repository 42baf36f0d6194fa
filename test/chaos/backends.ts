import { execFileSync } from 'node:child_process'
import { closeSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type NatsOptions,
  type PostgresOptions,
  type RunningNats,
  type RunningPostgres,
  startNats,
  startPostgres,
} from '@backoffice/local-stack'
import { eventually, type Teardown, unlessRequired } from '@backoffice/test-kit'

/** One process of the system, as faults see it. */
export interface Part {
  readonly name: string
  /** SIGKILL; resolves when a new process has taken its place. */
  kill(): Promise<void>
  /** SIGSTOP. Without a process there is nothing to stop. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
}

/** Sends a signal to a process that may have ended by itself. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A PostgreSQL that can be killed as a whole or in one session. */
export class PostgresPart implements Part {
  readonly name = 'postgres'
  readonly #options: PostgresOptions
  #running: RunningPostgres

  private constructor(options: PostgresOptions, running: RunningPostgres) {
    this.#options = options
    this.#running = running
  }

  static async start(options: PostgresOptions): Promise<PostgresPart> {
    return new PostgresPart(options, await startPostgres(options))
  }

  get url(): string {
    return this.#running.url
  }

  get isRunning(): boolean {
    return this.#running.child.running
  }

  async kill(): Promise<void> {
    this.#signalAll('SIGKILL')
    await this.startAgain()
  }

  /** As `pg_ctl stop -m immediate`: it ends without a checkpoint, and recovers from its log. */
  async stopAtOnce(): Promise<void> {
    signal(this.#running.child.pid, 'SIGQUIT')
    await this.startAgain()
  }

  /** Starts it once it has ended. */
  async startAgain(): Promise<void> {
    await this.#running.child.exited
    // It does not start before the last process of the old one is gone.
    this.#running = await eventually(() => startPostgres(this.#options))
  }

  /** PostgreSQL takes the shared memory for damaged then, ends every session and recovers from its log. */
  killSession(choice: number): void {
    const sessions = this.#sessions()
    const pid = sessions[choice % sessions.length]
    if (pid !== undefined) signal(pid, 'SIGKILL')
  }

  freeze(): void {
    this.#signalAll('SIGSTOP')
  }

  thaw(): void {
    this.#signalAll('SIGCONT')
  }

  async stop(): Promise<void> {
    this.thaw()
    await this.#running.child.stop()
  }

  #signalAll(name: NodeJS.Signals): void {
    const { pid } = this.#running.child
    // The parent first, so that it starts no further ones.
    for (const each of [pid, ...childrenOf(pid).map(({ pid }) => pid)]) signal(each, name)
  }

  #sessions(): readonly number[] {
    return childrenOf(this.#running.child.pid)
      .filter(({ command }) => command.includes('127.0.0.1'))
      .map(({ pid }) => pid)
  }
}

function childrenOf(parent: number): readonly { readonly pid: number; readonly command: string }[] {
  const lines = execFileSync('ps', ['-A', '-o', 'ppid=,pid=,args='], { encoding: 'utf8' }).trim().split('\n')
  return lines.flatMap((line) => {
    const [ppid, pid, ...command] = line.trim().split(/\s+/)
    return Number(ppid) === parent ? [{ pid: Number(pid), command: command.join(' ') }] : []
  })
}

/** nats-server writes to its disks, but syncs them only now and then: a power cut may cost it so much. */
const unsyncedMsMax = 120_000

/** A nats-server that can be killed, with or without its disks. */
export class NatsPart implements Part {
  readonly name = 'nats'
  readonly #options: NatsOptions
  #running: RunningNats
  #copiedAt = Number.NEGATIVE_INFINITY

  private constructor(options: NatsOptions, running: RunningNats) {
    this.#options = options
    this.#running = running
  }

  static async start(options: NatsOptions): Promise<NatsPart> {
    return new NatsPart(options, await startNats(options))
  }

  get url(): string {
    return this.#running.url
  }

  kill(): Promise<void> {
    return this.#restart(() => {
      if (!existsSync(this.#disks)) return
      rmSync(this.#copy, { recursive: true, force: true })
      cpSync(this.#disks, this.#copy, { recursive: true })
      this.#copiedAt = performance.now()
    })
  }

  wipe(): Promise<void> {
    return this.#restart(() => {
      rmSync(this.#disks, { recursive: true, force: true })
      // That copy is of another stream.
      this.#copiedAt = Number.NEGATIVE_INFINITY
    })
  }

  /** Its disks are then as at its last kill. */
  loseLatest(): Promise<void> {
    return this.#restart(() => {
      if (performance.now() - this.#copiedAt > unsyncedMsMax) return
      rmSync(this.#disks, { recursive: true, force: true })
      cpSync(this.#copy, this.#disks, { recursive: true })
    })
  }

  freeze(): void {
    signal(this.#running.child.pid, 'SIGSTOP')
  }

  thaw(): void {
    signal(this.#running.child.pid, 'SIGCONT')
  }

  async stop(): Promise<void> {
    this.thaw()
    await this.#running.child.stop()
  }

  get #disks(): string {
    return join(this.#options.dir, 'jetstream')
  }

  get #copy(): string {
    return join(this.#options.dir, 'jetstream-before')
  }

  async #restart(whileDown: () => void): Promise<void> {
    signal(this.#running.child.pid, 'SIGKILL')
    await this.#running.child.exited
    whileDown()
    this.#running = await startNats(this.#options)
  }
}

const chunk = Buffer.alloc(64 * 1024)

/** A disk of its own, in memory, so small that it can be filled. */
export class SmallDisk {
  readonly dir: string

  private constructor(dir: string) {
    this.dir = dir
  }

  /** @param dir is made; everybody may look into it */
  static mount(t: Teardown, dir: string, megabytes: number): SmallDisk {
    mkdirSync(dir, { recursive: true })
    mount(dir, megabytes)
    t.teardown(() => unmount(dir))
    return new SmallDisk(dir)
  }

  /** Takes what is left, to the last byte. */
  fill(): void {
    const file = openSync(this.#ballast, 'a')
    try {
      for (;;) writeSync(file, chunk)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(file)
    }
  }

  /** Gives it back. */
  free(): void {
    rmSync(this.#ballast)
  }

  get #ballast(): string {
    return join(this.dir, 'ballast')
  }
}

/** Why a test with a small disk is skipped, or false. */
export function skipWithoutSmallDisks(): string | false {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-disk-'))
  try {
    mount(dir, 1)
    unmount(dir)
    return false
  } catch {
    return unlessRequired('no tmpfs can be mounted here (Linux, as root)')
  } finally {
    rmdirSync(dir)
  }
}

function mount(dir: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', dir], { stdio: 'pipe' })
}

/** At once, and from its last user when that ends. */
function unmount(dir: string): void {
  execFileSync('umount', ['--lazy', dir], { stdio: 'pipe' })
}
