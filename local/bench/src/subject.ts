import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { BackOfficeClient } from '@backoffice/client'
import { type BrokerUser, operations, type Scope, storedMebibytesMax, storedRowsMax } from '@backoffice/contracts'
import { readStack, stackSecrets } from '@backoffice/local-stack'
import { connectNats } from '@backoffice/rpc'
import { newPlayer, OperatorClient, reconcile, startSystem, type TeamClient, type Teardown } from '@backoffice/test-kit'
import type { NatsConnection } from '@nats-io/transport-node'
import pg from 'pg'
import type { Books, Column, Sample } from './figures.ts'
import { memoryNow, type Processes } from './processes.ts'

const registrationsAtOnce = 8
/** As many as the most clients of a load. */
const connections = 128
const idleMs = 1_000
/** The highest that can be set: no load here reaches them. */
const rateLimitPerMinute = 10_000_000
const quotas = {
  SANDBOX_STORED_MIB_PER_DAY: String(storedMebibytesMax),
  SANDBOX_STORED_ROWS_PER_DAY: String(storedRowsMax),
  SANDBOX_PLAY_STAKES_PER_DAY: '100000000',
}

/** The running system of one checkout, as its `npm start` runs it, with what a case needs to put load on it. */
export interface Subject {
  readonly column: Column
  readonly team: TeamClient
  /** The sandbox of one operator. */
  readonly scope: Scope
  readonly operator: OperatorClient
  /** The same sandbox, for whoever opens games in it. */
  readonly sandbox: BackOfficeClient
  /** Where providers of games call; undefined in a release that has none. */
  readonly providerUrl: string | undefined
  /** As PostgreSQL's superuser. */
  readonly postgresUrl: string
  /** Of the services before the first request. */
  readonly idleMemory: Sample
  /** Present process numbers. A process that died has been started again under another number. */
  processes(): Processes
  /** A connection with which the bench sends what that program may send. */
  nats(user: BrokerUser): Promise<NatsConnection>
}

/** @param ending stops the system and closes all connections to it, also when it has only begun to start */
export async function startSubject(
  column: Column,
  checkout: string,
  ending: AsyncDisposableStack,
  environment: Readonly<Record<string, string>> = {},
): Promise<Subject> {
  // As `npm start` does it, for a checkout that was never started.
  const install = 'local/stack/bootstrap/install.mjs'
  execFileSync(process.execPath, [install, '--omit=dev'], { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] })
  const t: Teardown = { teardown: (end) => ending.defer(async () => void (await end())) }
  // Other servers have other settings and other load, and their processor time cannot be read.
  const system = await startSystem(t, { backends: 'own', checkout, environment: { ...quotas, ...environment } })
  const processes = () => readStack(system.stackJson).processes as Processes
  await wait(idleMs)
  const idleMemory = { figures: memoryNow(processes()), failures: {} }
  const team = await system.asTeam('alice')
  const { scope, sandbox } = await createOperator(team)
  const credentials = { key: sandbox.key, secret: sandbox.secret ?? '' }
  const operator = new OperatorClient(system.baseUrl, credentials, connections)
  ending.defer(() => operator.close())
  const games = new BackOfficeClient({ baseUrl: system.baseUrl, ...credentials })
  return {
    ...{ column, team, scope, operator, idleMemory, processes, postgresUrl: system.postgresUrl },
    ...{ sandbox: games, providerUrl: system.providerUrl as string | undefined },
    async nats(user) {
      const login = { NATS_URL: system.natsUrl, NATS_USER: user, NATS_PASSWORD: stackSecrets(system.dir).nats[user] }
      const connection = await connectNats(login, { name: 'bench', attemptsMax: 3 })
      ending.defer(() => connection.close())
      return connection
    },
  }
}

/** An operator whose limit no load reaches. It has one endpoint, so many endpoints need many operators. */
export async function createOperator(team: TeamClient, webhookUrl?: string) {
  const input = { name: `bench ${randomUUID().slice(0, 13)}`, rateLimitPerMinute }
  const { operatorId, sandbox } = await team.call(operations.gateway.createOperator, { input })
  const { brands } = await team.call(operations.gateway.getOperator, { input: { name: operatorId } })
  const brand = brands.find(({ environment }) => environment === 'sandbox')
  if (brand === undefined) throw new Error(`operator ${operatorId} has no sandbox`)
  const { id: brandId, currency, timeZone } = brand
  const scope: Scope = { operatorId, brandId, environment: 'sandbox', currency, timeZone }
  if (webhookUrl !== undefined) {
    const endpoint = { operatorId, environment: 'sandbox', url: webhookUrl } as const
    await team.call(operations.webhooks.setWebhookUrl, { input: endpoint })
  }
  return { scope, sandbox }
}

/** Registers so many players. @returns their ids */
export async function registerPlayers({ operator }: Subject, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  const client = async () => {
    while (ids.length < count) ids.push((await expecting(201, operator.post('/players', newPlayer()))).id)
  }
  await Promise.all(Array.from({ length: registrationsAtOnce }, client))
  return ids
}

/** The body of a reply that prepares a case. @throws when it has another status */
export async function expecting(status: number, sent: ReturnType<OperatorClient['send']>) {
  const reply = await sent
  if (reply.status !== status) throw new Error(`expected ${status}, not ${reply.status}: ${reply.bytes}`)
  return reply.body
}

/** Runs `work` as PostgreSQL's superuser, for work that no operation does. */
export async function withSql<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const examplesMax = 5

/** Reconciles all that a system holds, as the team does. */
export async function compareBooks({ column, team }: Subject): Promise<Books> {
  // An hour of figures is not lost because a checkout cannot judge its own books.
  const report = await reconcile(team, { full: true }).catch((error: Error) => error)
  if (report instanceof Error)
    return { column, compared: 0, differences: 1, examples: [`the reconciliation ended: ${report.message}`] }
  const examples = report.differences.slice(0, examplesMax)
  return {
    column,
    compared: report.checks.reduce((sum, { compared }) => sum + compared, 0),
    differences: report.differencesTotal,
    examples: examples.map(({ check, subject, explanation }) => `${check}: ${subject}: ${explanation}`),
  }
}

export const depositsOfPlayer = 100

/** One of those whom `fillDeposits` made, numbered from 0. */
export const filledPlayer = (number: number): string => `ply_0credited${String(1 + number).padStart(17, '0')}`

/**
 * Fills the ledger with deposits that were confirmed long ago, a hundred of each player: with SQL as the superuser,
 * because it would take hours through the services.
 */
export async function fillDeposits({ scope, postgresUrl }: Subject, rows: number): Promise<void> {
  const settings = {
    ...{ 'bench.brand': scope.brandId, 'bench.operator': scope.operatorId, 'bench.currency': scope.currency },
    ...{ 'bench.rows': String(rows), work_mem: '256MB' },
    // No trigger speaks: each would look at each row.
    session_replication_role: 'replica',
  }
  await withSql(postgresUrl, async (client) => {
    // Each page of a system account's entries is of whole transactions: so there must be some.
    await client.query('do $$ begin for n in 1..100000 loop perform pg_current_xact_id(); commit; end loop; end $$')
    await client.query('begin')
    for (const [name, value] of Object.entries(settings))
      await client.query('select set_config($1, $2, true)', [name, value])
    await client.query(readFileSync(new URL('./deposits.sql', import.meta.url), 'utf8'))
    await client.query('commit')
    await client.query('vacuum analyze')
    await client.query('checkpoint')
  })
}
