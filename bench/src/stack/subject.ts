import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type BrokerUser, operations, type Scope, storedMebibytesMax, storedRowsMax } from '@backoffice/contracts'
import { readStack, stackSecrets } from '@backoffice/dev-stack'
import { connectNats } from '@backoffice/rpc'
import { reconcile, type System, startSystem, type TeamClient, type Teardown } from '@backoffice/test-kit'
import type { NatsConnection } from '@nats-io/transport-node'
import pg from 'pg'
import type { Column, Sample, Say } from '../case.ts'
import type { Books } from '../figures.ts'
import { LoadOperator, post } from '../load/operator.ts'
import { memoryNow, type Processes } from './processes.ts'

const registrationsAtOnce = 8
const idleMs = 1_000
/** The highest that can be set: no load here reaches them. */
const rateLimitPerMinute = 10_000_000
const quotas = {
  SANDBOX_STORED_MIB_PER_DAY: String(storedMebibytesMax),
  SANDBOX_STORED_ROWS_PER_DAY: String(storedRowsMax),
}

/** The running system of one checkout, as its `npm start` runs it, with what a case needs to put load on it. */
export class Subject {
  readonly column: Column
  readonly team: TeamClient
  /** The sandbox of one operator. */
  readonly scope: Scope
  readonly operator: LoadOperator
  /** Memory of the services before the first request. */
  readonly idleMemory: Sample
  readonly #system: System
  readonly #ending: AsyncDisposableStack
  #players: Promise<readonly string[]> | undefined

  private constructor(
    parts: Pick<Subject, 'column' | 'team' | 'scope' | 'operator' | 'idleMemory'>,
    system: System,
    ending: AsyncDisposableStack,
  ) {
    this.column = parts.column
    this.team = parts.team
    this.scope = parts.scope
    this.operator = parts.operator
    this.idleMemory = parts.idleMemory
    this.#system = system
    this.#ending = ending
  }

  /** @param ending stops the system and closes all connections to it, also when it has only begun to start */
  static async start(
    column: Column,
    checkout: string,
    ending: AsyncDisposableStack,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Subject> {
    // As `npm start` does it, for a checkout that was never started.
    const install = 'packages/dev-stack/bootstrap/install.mjs'
    execFileSync(process.execPath, [install, '--omit=dev'], { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] })
    const t: Teardown = { teardown: (end) => ending.defer(async () => void (await end())) }
    // Other servers have other settings and other load, and their processor time cannot be read.
    const system = await startSystem(t, { backends: 'own', checkout, environment: { ...quotas, ...environment } })
    await wait(idleMs)
    const idleMemory = memoryNow(processesOf(system))
    const team = await system.asTeam('alice')
    const { scope, sandbox } = await createOperator(team)
    const operator = new LoadOperator(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
    ending.defer(() => operator.close())
    return new Subject({ column, team, scope, operator, idleMemory }, system, ending)
  }

  /** The players, who are registered when they are first needed. */
  players(count: number): Promise<readonly string[]> {
    this.#players ??= this.#register(count)
    return this.#players
  }

  /** Present process numbers. A process that died has been started again under another number. */
  processes(): Processes {
    return processesOf(this.#system)
  }

  get postgresUrl(): string {
    return this.#system.postgresUrl
  }

  /** A connection with which the bench sends what that program may send. */
  async nats(user: BrokerUser): Promise<NatsConnection> {
    const { natsUrl, dir } = this.#system
    const login = { NATS_URL: natsUrl, NATS_USER: user, NATS_PASSWORD: stackSecrets(dir).nats[user] }
    const connection = await connectNats(login, { name: 'bench', attemptsMax: 3 })
    this.#ending.defer(() => connection.close())
    return connection
  }

  /** Another operator with an endpoint: it has only one in each environment, so many endpoints need many operators. */
  async newEndpoint(url: string): Promise<Scope> {
    const { scope } = await createOperator(this.team)
    await this.receiveAt(url, scope)
    return scope
  }

  /** Has an operator's webhooks sent to a receiver. */
  async receiveAt(url: string, { operatorId, environment }: Scope = this.scope): Promise<void> {
    await this.team.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment, url } })
  }

  /** Runs `work` as PostgreSQL's superuser, for work that no operation does. */
  async withSql<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.postgresUrl })
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

const processesOf = ({ stackJson }: System) => readStack(stackJson).processes as Processes

/** An operator whose limit no load reaches. */
async function createOperator(team: TeamClient) {
  const input = { name: `bench ${randomUUID().slice(0, 13)}`, rateLimitPerMinute }
  const { operatorId, sandbox } = await team.call(operations.gateway.createOperator, { input })
  const { brands } = await team.call(operations.gateway.getOperator, { input: { name: operatorId } })
  const brand = brands.find(({ environment }) => environment === 'sandbox')
  if (brand === undefined) throw new Error(`operator ${operatorId} has no sandbox`)
  const { id: brandId, currency, timeZone } = brand
  const scope: Scope = { operatorId, brandId, environment: 'sandbox', currency, timeZone }
  return { scope, sandbox }
}

const newPlayer = () => ({
  externalId: randomUUID(),
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: '52998224725',
  birthDate: '1990-05-17',
})

const examplesMax = 5

/** Reconciles all that a system holds, as the team does. */
export async function compareBooks({ column, team }: Subject, say: Say): Promise<Books> {
  say('comparing the books')
  // An hour of figures is not lost because a checkout cannot judge its own books.
  const report = await reconcile(team, { full: true }).catch((error: Error) => error)
  if (report instanceof Error)
    return { column, compared: 0, differences: 1, examples: [`the reconciliation ended: ${report.message}`] }
  const { checks, differences, differencesTotal } = report
  return {
    column,
    compared: checks.reduce((sum, { compared }) => sum + compared, 0),
    differences: differencesTotal,
    examples: differences
      .slice(0, examplesMax)
      .map(({ check, subject, explanation }) => `${check}: ${subject}: ${explanation}`),
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
