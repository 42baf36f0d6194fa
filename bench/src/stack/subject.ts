import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type BrokerUser, type Scope, storedMebibytesMax, storedRowsMax } from '@backoffice/contracts'
import { readStack, type StackDescription, stackFileIn } from '@backoffice/dev-stack'
import pg from 'pg'
import type { Column, Sample } from '../case.ts'
import type { NatsLogin } from '../load/nats-requests.ts'
import { LoadOperator, post } from '../load/operator.ts'
import { memoryNow } from './processes.ts'
import { Team } from './team.ts'

const registrationsAtOnce = 8
const idleMs = 1_000

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
    await wait(idleMs)
    const idleMemory = memoryNow(stack)
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

  login(user: BrokerUser): NatsLogin {
    return { url: this.stack.description.natsUrl, user, password: this.stack.natsPassword(user) }
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

const lookEveryMs = 100

/** The highest that can be set: no load here reaches them. */
const quotas = {
  SANDBOX_STORED_MIB_PER_DAY: String(storedMebibytesMax),
  SANDBOX_STORED_ROWS_PER_DAY: String(storedRowsMax),
}

interface Where {
  readonly checkout: string
  /** The folder in which the system's own folder is made. */
  readonly under: string
  /** What its programs get beside the bench's own environment. */
  readonly env?: NodeJS.ProcessEnv
}

/** The system of one checkout, as its own `npm start` runs it: with servers of its own, in a folder of its own. */
export class RunningStack {
  readonly #dir: string

  private constructor(dir: string) {
    this.#dir = dir
  }

  /**
   * @param ending stops the system, also when it has only begun to start
   * @throws with the system's output when it does not start
   */
  static async start({ checkout, under, env: added }: Where, ending: AsyncDisposableStack): Promise<RunningStack> {
    // As `npm start` does it, for a checkout that was never started.
    const install = 'packages/dev-stack/bootstrap/install.mjs'
    execFileSync(process.execPath, [install, '--omit=dev'], { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] })
    mkdirSync(under, { recursive: true })
    const dir = mkdtempSync(join(under, 'backoffice-bench-'))
    // PostgreSQL runs as a user of its own when this is root.
    chmodSync(dir, 0o755)
    // Other servers have other settings and other load, and their processor time cannot be read.
    const { POSTGRES_URL: _postgres, NATS_URL: _nats, ...env } = process.env
    const program = ['packages/dev-stack/src/main.ts', '--dir', dir, '--port', '0']
    const child = spawn(process.execPath, program, {
      cwd: checkout,
      env: { ...env, ...quotas, ...added },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exited = once(child, 'exit')
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
    ending.defer(async () => {
      child.kill('SIGTERM')
      await exited
      rmSync(dir, { recursive: true, force: true })
    })
    while (!existsSync(stackFileIn(dir))) {
      if (child.exitCode !== null) throw new Error(`${checkout} did not start a system:\n${printed}`)
      await wait(lookEveryMs)
    }
    return new RunningStack(dir)
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

  get postgresLog(): string {
    return join(this.#dir, 'postgres', 'postgres.log')
  }

  /** Process numbers by name. */
  processes(): Readonly<Record<string, number>> {
    return this.description.processes as Record<string, number>
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
