import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type BrokerUser, type Scope, type ServiceName, serviceNames } from '@backoffice/contracts'
import { readStack, type StackDescription, stackFileIn } from '@backoffice/dev-stack'
import pg from 'pg'
import type { Column, Sample } from '../case.ts'
import type { NatsLogin } from '../load/nats-requests.ts'
import { LoadOperator, post } from '../load/operator.ts'
import { PeakMemory } from './processes.ts'
import { Team } from './team.ts'

const registrationsAtOnce = 8
const idleLooks = 4
const idleLookEveryMs = 250

/** The running system of one checkout, with what a case needs to put load on it. */
export class Subject {
  readonly column: Column
  readonly stack: RunningStack
  readonly team: Team
  /** The demo operator's sandbox. */
  readonly scope: Scope
  readonly operator: LoadOperator
  /** Memory of the services before the first request. */
  readonly idleMemory: Sample
  #players: Promise<readonly string[]> | undefined

  private constructor(parts: Pick<Subject, 'column' | 'stack' | 'team' | 'scope' | 'idleMemory'>) {
    this.column = parts.column
    this.stack = parts.stack
    this.team = parts.team
    this.scope = parts.scope
    this.idleMemory = parts.idleMemory
    this.operator = new LoadOperator(this.stack.description.baseUrl, demo(this.stack).sandbox)
  }

  /** @param ending stops the system and closes all connections to it */
  static async start(column: Column, where: Where, ending: AsyncDisposableStack): Promise<Subject> {
    const stack = await RunningStack.start(where, ending)
    const idleMemory = await lookWhileIdle(stack)
    const team = await Team.of(stack)
    ending.defer(() => team.close())
    const scope = await team.sandboxOf(demo(stack).name)
    const subject = new Subject({ column, stack, team, scope, idleMemory })
    ending.defer(() => subject.operator.close())
    return subject
  }

  /** The players, who are registered when they are first needed. */
  players(count: number): Promise<readonly string[]> {
    this.#players ??= this.#register(count)
    return this.#players
  }

  login(service: ServiceName): NatsLogin {
    return { url: this.stack.description.natsUrl, user: service, password: this.stack.natsPassword(service) }
  }

  /** Runs `work` as PostgreSQL's superuser, for work that no operation does. */
  async withSql<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.stack.description.postgresUrl })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }

  async #register(count: number): Promise<readonly string[]> {
    const ids: string[] = []
    const client = async (number: number) => {
      while (ids.length < count)
        ids.push(String((await this.operator.ask(number, post('/players', newPlayer()), 201)).id))
    }
    await Promise.all(Array.from({ length: registrationsAtOnce }, (_, number) => client(number)))
    return ids
  }
}

async function lookWhileIdle(stack: RunningStack): Promise<Sample> {
  const peak = new PeakMemory(stack)
  for (let look = 0; look < idleLooks; look += 1) {
    await wait(idleLookEveryMs)
    peak.look()
  }
  return peak.sample()
}

function demo({ description }: RunningStack) {
  const [operator] = description.operators
  if (operator === undefined) throw new Error('the system has no demo operator')
  return operator
}

const newPlayer = () => ({
  externalId: randomUUID(),
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: '52998224725',
  birthDate: '1990-05-17',
})

/** A checkout that was never started installs first. */
const startTimeoutMs = 300_000
const startAttemptsMax = 3
const lookEveryMs = 100

interface Where {
  readonly checkout: string
  /** The folder in which the system's own folder is made. */
  readonly under: string
}

/** The system of one checkout, as its own `npm start` runs it: with servers of its own, in a folder of its own. */
export class RunningStack {
  readonly #dir: string
  readonly #npm: ChildProcess
  #printed = ''

  private constructor({ checkout }: Where, dir: string) {
    this.#dir = dir
    // Other servers have other settings and other load, and their processor time cannot be read.
    const { POSTGRES_URL: _postgres, NATS_URL: _nats, ...env } = process.env
    this.#npm = spawn('npm', ['start', '--', '--dir', dir, '--port', '0'], {
      cwd: checkout,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#npm.stdout, this.#npm.stderr]) {
      stream?.on('data', (chunk) => {
        this.#printed += chunk
      })
    }
  }

  /**
   * @param ending stops the system, also when it has only begun to start
   * @throws with the system's output when it does not start
   */
  static async start(where: Where, ending: AsyncDisposableStack): Promise<RunningStack> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await RunningStack.#startOnce(where, ending)
      } catch (error) {
        // The system finds free ports first and uses them later. Another program may take them in between.
        const isTaken = /address already in use/i.test((error as Error).message)
        if (!isTaken || attempt >= startAttemptsMax) throw error
      }
    }
  }

  static async #startOnce(where: Where, ending: AsyncDisposableStack): Promise<RunningStack> {
    const { checkout, under } = where
    mkdirSync(under, { recursive: true })
    const dir = mkdtempSync(join(under, 'backoffice-bench-'))
    // PostgreSQL runs as a user of its own when this is root.
    chmodSync(dir, 0o755)
    const stack = new RunningStack(where, dir)
    ending.defer(() => stack.#stop())
    const deadline = Date.now() + startTimeoutMs
    while (!existsSync(stackFileIn(dir))) {
      if (stack.#ended || Date.now() > deadline)
        throw new Error(`npm start in ${checkout} did not start a system:\n${stack.#printed}`)
      await wait(lookEveryMs)
    }
    return stack
  }

  /** What the system reports now. A process that died has been started again under another number. */
  get description(): StackDescription {
    return readStack(stackFileIn(this.#dir))
  }

  /** The password of a NATS user. With it the bench sends what that program may send. */
  natsPassword(user: BrokerUser): string {
    const secrets = JSON.parse(readFileSync(join(this.#dir, 'secrets.json'), 'utf8')) as {
      nats: Record<BrokerUser, string>
    }
    return secrets.nats[user]
  }

  /** Process numbers by name. */
  processes(): Readonly<Record<string, number>> {
    return this.description.processes as Record<string, number>
  }

  /** Of the services and the games. */
  servicePids(): Readonly<Record<string, number>> {
    const all = this.processes()
    const names = [...serviceNames, 'games'].filter((name) => all[name] !== undefined)
    return Object.fromEntries(names.map((name) => [name, all[name] ?? 0]))
  }

  get #ended(): boolean {
    return this.#npm.exitCode !== null || this.#npm.signalCode !== null
  }

  /** Stops the system gracefully and removes its folder. */
  async #stop(): Promise<void> {
    if (!this.#ended) {
      const exited = once(this.#npm, 'exit')
      this.#tellToStop()
      await exited
    }
    rmSync(this.#dir, { recursive: true, force: true })
  }

  /** The shell between npm and the supervisor may not pass a signal on, so the supervisor gets it; npm, while it installs. */
  #tellToStop(): void {
    try {
      process.kill(Number(readFileSync(join(this.#dir, 'supervisor.pid'), 'utf8')), 'SIGTERM')
    } catch {
      this.#npm.kill('SIGTERM')
    }
  }
}

/** The commit of a checkout, marked when files differ from it. */
export function commitOf(checkout: string): string {
  const git = (...args: string[]) => execFileSync('git', ['-C', checkout, ...args], { encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== ''
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`
  } catch {
    return 'unknown'
  }
}
