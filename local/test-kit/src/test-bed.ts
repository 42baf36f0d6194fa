import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import {
  type BrokerUser,
  brokerUsers,
  type DatabaseRole,
  inboxOf,
  type Operation,
  type Reply,
  type Scope,
  type ServiceName,
  serviceNames,
  streamBytesMin,
  streamKeeper,
  teamConsole,
} from '@backoffice/contracts'
import {
  type NatsOptions,
  type RunningNats,
  roleUrl,
  sharedRolePasswords,
  startNats,
  withOtherRoles,
} from '@backoffice/local-stack'
import { StreamKeeper } from '@backoffice/migrator/stream'
import { createLogger, loadConfig } from '@backoffice/process'
import { type CallOptions, RpcClient } from '@backoffice/rpc'
import { type Interceptor, type RunningService, type Service, startService } from '@backoffice/service-runtime/testing'
import type { TeamSigner } from '@backoffice/team-access/identity'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import pg from 'pg'
import { areContainersWanted, createDatabase, postgres, startNatsContainer } from './backends.ts'
import { inherited, type Teardown, temporaryFolder } from './started.ts'
import { agreedBy, lookingFirst, type TeamCallOptions, type TeamClient } from './team-calls.ts'
import { type LoginOptions, type TeamUser, TestIssuer } from './team-people.ts'
import type { TestTime, TestTimers } from './time.ts'

const poolConnectionsMax = 4

export interface TestBedOptions {
  /** What services and PostgreSQL's `now()` take for the present. */
  readonly time?: TestTime
  /** Handed to every service instead of the system's clock, or that of `time`. It decides nothing that replicas share. */
  readonly clock?: { now(): Date }
  /** By which the services wait, in place of their processes' own. */
  readonly timers?: TestTimers
  /** Configuration by service, as environment variables. It replaces what the bed sets. */
  readonly config?: Readonly<Partial<Record<ServiceName, Readonly<Record<string, string | number | boolean>>>>>
  /** The origin of the console, where one runs in front of the services. */
  readonly deployment?: string
  /** What stands in place of the outside world, by service: see its `compose`. */
  readonly outside?: Readonly<Partial<Record<ServiceName, Readonly<Record<string, unknown>>>>>
  /** Stands around each step that a service takes outside of its process. Asked for each replica that starts. */
  readonly intercept?: (name: ServiceName) => Interceptor
  /** False: what is marked to be sealed is written in clear. Asked for each replica that starts. */
  readonly seals?: () => boolean
  /** Servers that a test runs itself, because they fail in it. It ends them itself, after the bed. */
  readonly servers?: {
    /** Of the superuser. */
    readonly postgresUrl?: string
    /** Starts a nats-server with these users. */
    readonly nats?: (users: Pick<NatsOptions, 'passwords'>) => Promise<{ readonly url: string }>
  }
  /** False where the test starts the services as processes of their own; `services` is empty then. */
  readonly startServices?: boolean
}

/**
 * Calls operations as a service that may call them: the gateway for signed requests, a declared caller for internal
 * ones.
 */
export interface TestRpc {
  call<O extends Operation>(operation: O, options: CallOptions<O>): Promise<Reply<O>>
}

// Each service has types of its own for its settings, the outside world and its addresses.
// biome-ignore lint/suspicious/noExplicitAny: see above
type AnyService = Service<any, any, any, any>
type Services = Readonly<Partial<Record<ServiceName, AnyService>>>
// biome-ignore lint/suspicious/noExplicitAny: only the addresses are looked at
type Running<S> = S extends Service<any, any, any, infer Addresses> ? RunningService<Addresses> : RunningService

export interface TestBed<S> {
  readonly rpc: TestRpc
  /** Calls the team's operations as one person of it, who has just logged in. */
  team(user: TeamUser, login?: LoginOptions): TeamClient
  /** Calls the team's operations as a machine with every role. */
  machine(): TeamClient
  /** Does what may take two people: alice calls it, and bob carries it out where that is needed. */
  agreed<O extends Operation>(operation: O, options: Pick<TeamCallOptions<O>, 'input'>): Promise<Reply<O>>
  /** The identity provider of the bed's people. */
  readonly issuer: TestIssuer
  /** An operator's scope, in the sandbox unless overridden; another environment or operator has another brand. */
  scope(overrides?: Partial<Scope>): Scope
  /**
   * Makes a brand known to the services, as `createOperator` does. `rpc` does so by itself with the scope of each call.
   */
  register(scope: Scope): Promise<void>
  /** A pool of connections with the rights of a role (its schema first), or of the superuser. */
  sql(who: DatabaseRole | 'admin'): pg.Pool
  /** A NATS connection with the rights of a program. */
  nats(user: BrokerUser): Promise<NatsConnection>
  readonly services: { readonly [Name in keyof S]: Running<S[Name]> }
  /** Starts one more replica of a service; it ends with the bed. */
  start<Name extends keyof S & ServiceName>(name: Name): Promise<Running<S[Name]>>
  readonly natsUrl: string
  /** Of the superuser. */
  readonly databaseUrl: string
  /** Environment variables with which a service of this bed would start as a process of its own. */
  environment(name: ServiceName): Record<string, string>
  /** The same for the public games, which a test starts itself. */
  gamesEnvironment(): Record<string, string>
}

/**
 * Starts the given services in this process on a database and a nats-server of their own, and ends all of it with `t`.
 * Permissions, roles and migrations are those of production.
 */
export async function testBed<S extends Services>(
  t: Teardown,
  services: S,
  options: TestBedOptions = {},
): Promise<TestBed<S>> {
  // Before the teardown below is registered: a PostgreSQL of this process must end after the bed.
  const administratorUrl = options.servers?.postgresUrl ?? (await postgres())
  const endings = endingsOf(t)
  const names = serviceNames.filter((name) => services[name] !== undefined)
  const chosen = names.map((name) => services[name] as AnyService)
  const [database, nats] = await Promise.all([createDatabase(chosen, administratorUrl), startBedNats(endings, options)])
  endings.push(database.drop)
  await options.time?.install(database.url, names)
  const rolePassword = withOtherRoles(sharedRolePasswords(administratorUrl))
  const urlOf = (role: DatabaseRole) => roleUrl(database.url, role, rolePassword[role])
  const issuer = new TestIssuer(options.deployment)
  endings.push(() => issuer.remove())
  const urls = { natsUrl: nats.url, databaseUrl: database.url, urlOf }
  const access = accessTo(urls, endings)

  const bed: TestBed<S> = {
    natsUrl: nats.url,
    databaseUrl: database.url,
    ...access,
    ...environmentsOf(urls, issuer, options),
    services: {} as TestBed<S>['services'],
    rpc: {
      async call(operation, callOptions) {
        if (callOptions.scope !== undefined) await bed.register(callOptions.scope)
        return new RpcClient(await bed.nats(callerOf(operation))).call(operation, callOptions)
      },
    },
    agreed: (operation, { input }) => agreedBy(bed, operation, input),
    issuer,
    team: (user, login) =>
      teamClient(() => bed.nats(teamConsole), issuer.signer(user, { ...clockOf(options), ...login })),
    machine: () => teamClient(() => bed.nats(teamConsole), issuer.machine(clockOf(options))),
    scope: (overrides = {}) => testScope(overrides),
    register: registering(names, access.sql),
    async start(name) {
      const service = services[name] as AnyService
      const running = await startService(service, loadConfig(service.configuration, bed.environment(name)) as never, {
        clock: options.clock ?? options.time,
        timers: options.timers,
        outside: options.outside?.[name],
        intercept: options.intercept?.(name),
        seals: options.seals?.(),
      })
      endings.push(() => running.drain())
      return running as Running<S[typeof name]>
    },
  }
  if (options.startServices === false) return bed
  for (const name of names) Object.assign(bed.services, { [name]: await bed.start(name as keyof S & ServiceName) })
  return bed
}

type Ending = () => Promise<unknown> | unknown

/** What ends with a test: in the opposite order, and to the end even if one fails, since the next test must find nothing left. */
function endingsOf(t: Teardown): Ending[] {
  const endings: Ending[] = []
  t.teardown(async () => {
    const outcomes = []
    for (const end of endings.reverse()) outcomes.push(...(await Promise.allSettled([end()])))
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue
      // tap says only that a teardown failed.
      process.stderr.write(`the test bed did not end well: ${inspect(outcome.reason)}\n`)
      throw outcome.reason
    }
  })
  return endings
}

interface Urls {
  readonly natsUrl: string
  readonly databaseUrl: string
  readonly urlOf: (role: DatabaseRole) => string
}

const accessTo = ({ natsUrl, databaseUrl, urlOf }: Urls, endings: Ending[]) => ({
  sql: perKey((who: DatabaseRole | 'admin') => {
    const url = who === 'admin' ? databaseUrl : urlOf(who)
    const pool = new pg.Pool({ connectionString: url, max: poolConnectionsMax, ...searchPath(who) })
    // A test that failed may have kept a connection, which ends with the database.
    endings.push(() => (pool.idleCount < pool.totalCount ? void pool.end() : pool.end()))
    // A dropped database or a test's own terminated session is no fault of the pool's.
    pool.on('error', () => {})
    return pool
  }),
  nats: perKey((user: BrokerUser) => {
    const login = { servers: natsUrl, user, pass: natsPassword(user), inboxPrefix: inboxOf(user) }
    // A server that a test kills is back after a while.
    const connection = connect({ ...login, maxReconnectAttempts: -1 })
    endings.push(async () => (await connection).close())
    return connection
  }),
})

function registering(services: readonly ServiceName[], sql: TestBed<never>['sql']): TestBed<never>['register'] {
  const brands = new Map<string, Promise<void>>()
  const names = services.filter((name) => name !== 'gateway' && name !== 'reconciler')
  return ({ brandId, operatorId, environment, currency, timeZone }) => {
    const known = brands.get(brandId)
    if (known !== undefined) return known
    const values = [brandId, operatorId, environment, currency, timeZone]
    const inserts = names.map(
      (name) => `${name} as (insert into ${name}.brand values ($1, $2, $3, $4, $5) on conflict do nothing)`,
    )
    const registered =
      names.length === 0
        ? Promise.resolve()
        : sql('admin')
            .query(`with ${inserts} select`, values)
            .then(() => {})
    brands.set(brandId, registered)
    return registered
  }
}

const environmentsOf = ({ natsUrl, urlOf }: Urls, issuer: TestIssuer, { config }: TestBedOptions) => ({
  environment: (name: ServiceName) => ({
    ...inherited,
    ...issuer.settings,
    DATABASE_URL: urlOf(name),
    // Each connection is a process of PostgreSQL.
    DATABASE_POOL_MAX: '2',
    NATS_URL: natsUrl,
    NATS_USER: name,
    NATS_PASSWORD: natsPassword(name),
    HEALTH_HOST: '127.0.0.1',
    HEALTH_PORT: '0',
    PORT: '0',
    PROVIDER_PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
    ...asText(config?.[name] ?? {}),
  }),
  gamesEnvironment: () => ({
    ...inherited,
    DATABASE_URL: urlOf('games'),
    GAMES_HOST: '127.0.0.1',
    GAMES_PORT: '0',
    HEALTH_HOST: '127.0.0.1',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
  }),
})

/** Makes what belongs to a key when it is first asked for. */
function perKey<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>()
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

function callerOf(operation: Operation): ServiceName {
  const caller = operation.callers?.[0] ?? 'gateway'
  if (operation.audience === 'team') throw new Error(`${operation.id} is the team's: use bed.team('alice')`)
  return caller
}

/** A client whose connection is made by its first call. */
const teamClient = (connection: () => Promise<NatsConnection>, signer: TeamSigner): TeamClient =>
  lookingFirst({
    call: async (operation, options) => new RpcClient(await connection(), signer).call(operation, options),
  })

function testScope(overrides: Partial<Scope>): Scope {
  const { environment = 'sandbox', operatorId = 'op_test' } = overrides
  return {
    operatorId,
    brandId: `brd_${operatorId.replace(/^op_/, '')}_${environment}`,
    environment,
    currency: 'BRL',
    timeZone: 'America/Sao_Paulo',
    ...overrides,
  }
}

const clockOf = ({ time, clock = time }: TestBedOptions) => (clock === undefined ? {} : { now: () => clock.now() })

const searchPath = (who: string) => (who === 'admin' ? {} : { options: `-c search_path=${who}` })

const asText = (config: Readonly<Record<string, string | number | boolean>>) =>
  Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value)]))

const ofThisProcess = randomBytes(9).toString('hex')

/** On the bed's nats-server. Nobody else knows it: an engine shows the ports of its containers to the whole network. */
export const natsPassword = (user: string) => `p${ofThisProcess}-of-${user}`

export async function startBedNats(
  endings: (() => unknown)[],
  { servers }: TestBedOptions,
): Promise<Pick<RunningNats, 'url'>> {
  const passwordsOf = (users: readonly string[]) => Object.fromEntries(users.map((user) => [user, natsPassword(user)]))
  const users = { passwords: passwordsOf(brokerUsers) as Record<BrokerUser, string> }
  if (servers?.nats !== undefined) {
    const { url } = await servers.nats(users)
    await keepStream(url, endings)
    return { url }
  }
  if (areContainersWanted()) {
    const nats = await startNatsContainer(users.passwords)
    endings.push(nats.stop)
    await keepStream(nats.url, endings)
    return nats
  }
  const dir = temporaryFolder({ teardown: (end) => endings.push(end) })
  const nats = await startNats({ dir, ...users })
  endings.push(() => nats.child.stop())
  await keepStream(nats.url, endings)
  return nats
}

/** A keeper that makes the stream, and tells the services that it is there. */
async function keepStream(url: string, endings: (() => unknown)[]): Promise<void> {
  const login = { NATS_URL: url, NATS_PASSWORD: natsPassword(streamKeeper) }
  const settings = { replicas: 1, bytesMax: streamBytesMin }
  const keeper = await StreamKeeper.start(login, settings, createLogger('test bed', 'silent'))
  endings.push(() => keeper.stop())
}
