import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServiceName } from '@backoffice/contracts'
import { writeFileAtomically } from './atomic-file.ts'
import type { TeamUser } from './identity/people.ts'

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

/** Our own programs that run all the time: the services, the public games and the team's console. */
export type ProgramName = ServiceName | 'games' | 'console'
export type ProcessName = 'postgres' | 'nats' | 'identity' | ProgramName

/** What `<dir>/stack.json` says while a stack runs; it is removed when the stack stops. */
export interface StackDescription {
  readonly baseUrl: string
  readonly docsUrl: string
  /** Of the superuser, for the database of the services. */
  readonly postgresUrl: string
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
 * The running stack's description, from `STACK_JSON` or the default place.
 * @throws with what to do when no stack runs there.
 */
export function readStack(file = process.env.STACK_JSON ?? stackFileIn(defaultStackFolder)): StackDescription {
  try {
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
