import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServiceName } from '@backoffice/contracts'
import { isRunning } from './child.ts'
import type { TeamUser } from './identity/people.ts'
import { keepLoopbackDirect } from './ports.ts'

export interface EnvironmentCredentials {
  readonly key: string
  readonly secret: string
  readonly webhookSecret: string
}

export interface StackOperator {
  readonly name: string
  readonly sandbox: EnvironmentCredentials
  readonly production: EnvironmentCredentials
}

/** A provider of games with a key of the sandbox. */
export interface StackProvider {
  readonly name: string
  readonly id: string
  /** Of the demo operator, in the sandbox. */
  readonly brandId: string
  /** The game that stakes money. */
  readonly gameId: string
  readonly key: string
  readonly secret: string
}

/** Our own programs that run all the time: the services, the public games and the team's console. */
export type ProgramName = ServiceName | 'games' | 'console'
export type ProcessName = 'postgres' | 'postgres-wallet' | 'nats' | 'identity' | ProgramName

/** What `<dir>/stack.json` says while a stack runs; it is removed when the stack stops. */
export interface StackDescription {
  readonly baseUrl: string
  readonly docsUrl: string
  /** Where providers of games call: before the id of a brand. */
  readonly providerUrl: string
  /** The provider that the public games are. */
  readonly provider: StackProvider
  /** Of the superuser, for the database of the services. */
  readonly postgresUrl: string
  /** The same of the wallet's database, where it has one of its own. */
  readonly walletPostgresUrl?: string
  readonly natsUrl: string
  /** Where the team works, and where its command line calls. */
  readonly consoleUrl: string
  /** Where people log in: the identity provider of this stack. */
  readonly issuer: string
  /** The people who can log in there, without a password. */
  readonly people: readonly TeamUser[]
  readonly operators: readonly StackOperator[]
  /** Where Prometheus finds the metrics of each program; only with OTEL_METRICS_EXPORTER=prometheus. */
  readonly metrics?: Readonly<Partial<Record<ProgramName, string>>>
  /** Process numbers. A backend that was given is not among them. */
  readonly processes: Readonly<Partial<Record<ProcessName, number>>>
}

export const defaultStackFolder = fileURLToPath(new URL('../../../.stack', import.meta.url))

export const stackFileIn = (dir: string): string => join(dir, 'stack.json')

/**
 * The running stack's description, from `STACK_JSON` or the default place. Whoever reads it calls that stack from now on,
 * through no proxy.
 * @throws with what to do when no stack runs there.
 */
export function readStack(file = process.env.STACK_JSON ?? stackFileIn(defaultStackFolder)): StackDescription {
  try {
    keepLoopbackDirect()
    return JSON.parse(readFileSync(resolve(file), 'utf8')) as StackDescription
  } catch {
    throw new Error(
      `No stack runs at ${file}. Start one with npm start, or set STACK_JSON to the stack.json of another.`,
    )
  }
}

/** Keeps the file true: every change is written at once, and as a whole. */
export class StackFile {
  readonly #file: string
  #description: StackDescription | undefined

  constructor(dir: string) {
    this.#file = stackFileIn(dir)
    rmSync(this.#file, { force: true })
  }

  publish(description: StackDescription): void {
    this.#description = description
    writeFileAtomically(this.#file, `${JSON.stringify(description, null, 2)}\n`)
  }

  /** Before the stack is published there is nothing to keep true. */
  updateProcess(name: ProcessName, pid: number): void {
    const current = this.#description
    if (current !== undefined) this.publish({ ...current, processes: { ...current.processes, [name]: pid } })
  }

  /** It has ended, and nobody expects it to run. */
  removeProcess(name: ProcessName): void {
    const current = this.#description
    if (current === undefined) return
    const { [name]: _ended, ...processes } = current.processes
    this.publish({ ...current, processes })
  }

  remove(): void {
    this.#description = undefined
    rmSync(this.#file, { force: true })
  }
}

/** Writes a file so that a reader sees the old text or the new one, never a part. Only the owner may read it. */
export function writeFileAtomically(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, file)
}

/** All that a stack keeps in its folder; `--fresh` removes these and nothing else. */
const contents = [
  'postgres',
  'postgres-wallet',
  'nats',
  'logs',
  'secrets.json',
  'identity.json',
  'operators.json',
  'provider.json',
  'stack.json',
]

const lockFileIn = (dir: string) => join(dir, 'supervisor.pid')

/**
 * Takes the folder for this process.
 * @throws when a stack is running in it already.
 */
export function claimFolder(dir: string, fresh: boolean): void {
  const lock = lockFileIn(dir)
  mkdirSync(dir, { recursive: true })
  while (!isMadeHere(lock)) {
    assertNoStackIn(dir)
    rmSync(lock, { force: true })
  }
  if (fresh) for (const name of contents) rmSync(join(dir, name), { recursive: true, force: true })
  mkdirSync(join(dir, 'logs'), { recursive: true })
}

/** @throws when a stack is running in the folder already. */
export function assertNoStackIn(dir: string): void {
  const lock = lockFileIn(dir)
  if (!existsSync(lock) || !isRunningStack(Number(readFileSync(lock, 'utf8')))) return
  const where = existsSync(stackFileIn(dir)) ? ` at ${readStack(stackFileIn(dir)).baseUrl}` : ''
  throw new Error(`A stack is already running in ${dir}${where}. Stop it first, or start another with --dir.`)
}

/** Of two that start at once, one makes the file. */
function isMadeHere(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

export function releaseFolder(dir: string): void {
  rmSync(lockFileIn(dir), { force: true })
}

/** A number left by a crash may belong to another program by now. */
function isRunningStack(pid: number): boolean {
  if (!isRunning(pid)) return false
  const commandLine = `/proc/${pid}/cmdline`
  return !existsSync(commandLine) || readFileSync(commandLine, 'utf8').includes('local/stack')
}
