import { join } from 'node:path'
import { styleText } from 'node:util'
import { streamBytesDefault } from '@backoffice/contracts'
import { StreamKeeper } from '@backoffice/migrator/stream'
import { createLogger } from '@backoffice/process'
import { type Child, SupervisedProcess } from './child.ts'
import { demoOperators, demoProvider } from './demo-operator.ts'
import { type IdentitySettings, teamUsers } from './identity/people.ts'
import { natsServerBinary, natsServerWarning, startNats } from './nats.ts'
import { OnDemand } from './on-demand.ts'
import { claimPort, freePort } from './ports.ts'
import { ensureDatabase, roleUrl, startPostgres, withOtherRoles } from './postgres.ts'
import { identitySettings, type StackSecrets, stackSecrets, withGivenBackends } from './secrets.ts'
import {
  compileServices,
  onDemand,
  onDemandEveryMs,
  prepareBackends,
  providerUrlOn,
  showsMetrics,
  startIdentityProvider,
  startOrder,
  startServiceProcess,
  startsLast,
} from './services.ts'
import {
  claimFolder,
  type ProcessName,
  type ProgramName,
  releaseFolder,
  type StackDescription,
  StackFile,
  type StackProvider,
} from './stack-file.ts'
import type { StackArguments, Steps } from './terminal.ts'

interface Addresses {
  readonly postgresUrl: string
  /** Where the wallet has a database of its own, for it and the reconciler. */
  readonly walletUrl: string | undefined
  readonly natsUrl: string
  readonly httpPort: number
  readonly providerPort: number
  readonly baseUrl: string
  readonly identity: IdentitySettings
}

interface Beside {
  readonly httpPort: number
  readonly providerPort: number
  readonly identity: IdentitySettings
  /** Resolves when the identity provider answers. */
  readonly provider: Promise<void>
}

/** PostgreSQL, nats-server, the identity provider, the services, the games and the console, started in order, kept running, and stopped in the opposite order. The reconciler runs when somebody calls it. */
export class Stack {
  readonly #arguments: StackArguments
  readonly #steps: Steps
  readonly #secrets: StackSecrets
  readonly #file: StackFile
  readonly #running: { stop(): Promise<void> }[] = []
  readonly #starting = new Set<SupervisedProcess>()
  readonly #metricsPorts = new Map<ProgramName, number>()
  readonly #processes: Partial<Record<ProcessName, number>> = {}
  #keeper: StreamKeeper | undefined
  #started: Promise<StackDescription> | undefined
  #stopped: Promise<void> | undefined

  /** @throws when another stack runs in the folder. */
  constructor(given: StackArguments, steps: Steps) {
    claimFolder(given.dir, given.fresh)
    this.#arguments = given
    this.#steps = steps
    this.#secrets = withGivenBackends(stackSecrets(given.dir), process.env)
    this.#file = new StackFile(given.dir)
  }

  /** @throws when a part cannot be started; what was started stays until `stop`. */
  start(): Promise<StackDescription> {
    this.#started ??= this.#start()
    return this.#started
  }

  /** Ends everything in such an order that no process loses what it still needs. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #start(): Promise<StackDescription> {
    const { port } = this.#arguments
    const httpPort = port === 0 ? await freePort() : port
    const providerPort = await providerPortBeside(port)
    const identity = await identitySettings(this.#identityFile, this.#secrets.console.clientSecret)
    // It needs nothing of the others, so it starts beside them.
    const provider = this.#startIdentityProvider(identity)
    // Whatever fails, none may be starting when the stack stops.
    return this.#startOthers({ httpPort, providerPort, identity, provider }).finally(() => provider.catch(() => {}))
  }

  async #startOthers(beside: Beside): Promise<StackDescription> {
    const { dir } = this.#arguments
    const { httpPort, providerPort, identity, provider: identityProvider } = beside
    identityProvider.catch(() => {})
    const compiled = compileServices()
    const [administratorUrl, walletAdministratorUrl] = await this.#databaseServers()
    const natsUrl = process.env.NATS_URL ?? (await this.#startNats())
    const databases = await this.#steps.run('database and stream: roles, schemas, migrations', async () => {
      const postgresUrl = await ensureDatabase(administratorUrl)
      const walletUrl = walletAdministratorUrl && (await ensureDatabase(walletAdministratorUrl, '_wallet'))
      await prepareBackends({
        administratorUrl: postgresUrl,
        walletUrl,
        databaseRoles: withOtherRoles(this.#secrets.databaseRoles),
        natsUrl,
        streamsPassword: this.#secrets.nats.streams,
      })
      await this.#keepStream(natsUrl)
      return { postgresUrl, walletUrl }
    })
    const baseUrl = `http://127.0.0.1:${httpPort}/api/v1`
    const startGames = await this.#steps.run(`services: ${startOrder().join(', ')}`, async () => {
      await compiled
      return this.#startServices({ ...databases, natsUrl, httpPort, providerPort, baseUrl, identity })
    })
    await this.#steps.run('identity provider', () => identityProvider)
    const { issuer, console } = identity
    const team = { issuer, consoleUrl: console.url, natsUrl, consolePassword: this.#secrets.nats.console }
    const operators = await this.#steps.run('demo operator', () => demoOperators(dir, team))
    const provider = await this.#steps.run('games, a provider of the sandbox', async () => {
      const provider = await demoProvider(dir, team)
      await startGames(provider)
      return provider
    })

    const description: StackDescription = {
      baseUrl,
      docsUrl: `${baseUrl}/docs`,
      providerUrl: providerUrlOn(providerPort),
      provider,
      postgresUrl: databases.postgresUrl,
      ...(databases.walletUrl === undefined ? {} : { walletPostgresUrl: databases.walletUrl }),
      natsUrl,
      consoleUrl: console.url,
      issuer,
      people: teamUsers,
      operators,
      ...metricsOf(this.#metricsPorts),
      processes: this.#processes,
    }
    this.#file.publish(description)
    return description
  }

  async #stop(): Promise<void> {
    this.#file.remove()
    // No part is started any more, and those that are starting give up.
    for (const part of this.#starting) void part.stop()
    await this.#started?.catch(() => {})
    this.#file.remove()
    await this.#keeper?.stop()
    for (const part of this.#running.reverse()) await part.stop()
    releaseFolder(this.#arguments.dir)
  }

  /** As administrators: the services' PostgreSQL and, with two databases, the wallet's. One that was given has both. */
  async #databaseServers(): Promise<readonly [string, string?]> {
    const given = process.env.POSTGRES_URL
    const common = given ?? (await this.#startPostgres('postgres'))
    if (this.#arguments.databases === 1) return [common]
    return [common, given ?? (await this.#startPostgres('postgres-wallet'))]
  }

  async #startPostgres(name: 'postgres' | 'postgres-wallet'): Promise<string> {
    const port = await freePort()
    const options = { dir: join(this.#arguments.dir, name), password: this.#secrets.postgres, port }
    await this.#steps.run(`PostgreSQL (embedded): ${name}`, () =>
      this.#supervise(name, async (signal) => (await startPostgres({ ...options, signal })).child),
    )
    return `postgresql://postgres:${options.password}@127.0.0.1:${port}/postgres`
  }

  async #startNats(): Promise<string> {
    const port = await freePort()
    const options = { dir: join(this.#arguments.dir, 'nats'), port, passwords: this.#secrets.nats }
    const onDownload = () => this.#steps.say('nats-server: downloading the Debian package …')
    await this.#steps.run('nats-server with JetStream', async () => {
      const warning = await natsServerWarning(await natsServerBinary({ onDownload }))
      if (warning !== undefined) this.#steps.say(styleText('red', warning))
      await this.#supervise('nats', async (signal) => (await startNats({ ...options, signal })).child)
    })
    return `nats://127.0.0.1:${port}`
  }

  #startIdentityProvider(settings: IdentitySettings): Promise<void> {
    const logFile = join(this.#arguments.dir, 'logs', 'identity.log')
    return this.#supervise('identity', (signal) => startIdentityProvider(this.#identityFile, settings, logFile, signal))
  }

  get #identityFile(): string {
    return join(this.#arguments.dir, 'identity.json')
  }

  /** In a cluster a program of its own does this. Here nobody has to wait for one more process. */
  async #keepStream(natsUrl: string): Promise<void> {
    const { EVENTS_REPLICAS = 1, EVENTS_MAX_BYTES = streamBytesDefault } = process.env
    const login = { NATS_URL: natsUrl, NATS_PASSWORD: this.#secrets.nats.streams }
    const settings = { replicas: Number(EVENTS_REPLICAS), bytesMax: Number(EVENTS_MAX_BYTES) }
    // What is wrong with the stream, the services say in their logs.
    this.#keeper = await StreamKeeper.start(login, settings, createLogger('streams', 'silent'))
  }

  /** @returns what starts the games, once they have a key */
  async #startServices(where: Addresses): Promise<(provider: StackProvider) => Promise<void>> {
    const gamesPort = await freePort()
    const ports = new Map<ProgramName, number>()
    const passwords = withOtherRoles(this.#secrets.databaseRoles)
    const residents = startOrder()
    for (const name of [...residents, startsLast, onDemand]) {
      ports.set(name, await freePort())
      if (showsMetrics()) this.#metricsPorts.set(name, await freePort())
    }
    const start = (name: ProgramName, provider?: StackProvider) => (signal: AbortSignal) =>
      startServiceProcess({
        name,
        signal,
        logFile: join(this.#arguments.dir, 'logs', `${name}.log`),
        databaseUrl: name === 'console' ? undefined : roleUrl(databaseOf(name, where), name, passwords[name]),
        natsUrl: where.natsUrl,
        secrets: this.#secrets,
        identity: where.identity,
        healthPort: ports.get(name) ?? 0,
        ...metricsPortOf(this.#metricsPorts.get(name)),
        httpPort: where.httpPort,
        baseUrl: where.baseUrl,
        providerPort: where.providerPort,
        ...(provider === undefined ? {} : { provider }),
        gamesPort,
      })
    if (!residents.includes(onDemand)) await this.#startOnDemand(where.natsUrl, start(onDemand))
    // All at once, and known in this order: the last is the first to stop.
    const started = residents.map((name) => this.#supervise(name, start(name)))
    // All are waited for, so that none is still starting when a failure stops the stack.
    const outcomes = await Promise.allSettled(started)
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return (provider) => this.#supervise(startsLast, start(startsLast, provider))
  }

  async #startOnDemand(natsUrl: string, start: (signal: AbortSignal) => Promise<Child>): Promise<void> {
    const part = await OnDemand.start({
      ...{ name: onDemand, natsUrl, passwords: this.#secrets.nats, start, everyMs: onDemandEveryMs(process.env) },
      onRunning: (pid) => this.#isRunning(onDemand, pid),
      onEnded: () => {
        delete this.#processes[onDemand]
        this.#file.removeProcess(onDemand)
      },
      onTrouble: (message) => this.#steps.say(message),
    })
    this.#running.push(part)
  }

  #isRunning(name: ProcessName, pid: number): void {
    this.#processes[name] = pid
    this.#file.updateProcess(name, pid)
  }

  async #supervise(name: ProcessName, start: (signal: AbortSignal) => Promise<Child>): Promise<void> {
    if (this.#stopped !== undefined) throw new Error('Stopped while starting.')
    const part = new SupervisedProcess({
      name,
      start,
      onRunning: (pid) => this.#isRunning(name, pid),
      onTrouble: (message) => this.#steps.say(message),
    })
    this.#running.push(part)
    this.#starting.add(part)
    await part.start().finally(() => this.#starting.delete(part))
  }
}

/** Three above the given one, where that is free: it is the same at the next start. */
async function providerPortBeside(port: number): Promise<number> {
  const beside = port + 3
  return port !== 0 && beside <= 65_535 && (await claimPort(beside)) ? beside : freePort()
}

/** The reconciler lives with the ledger. */
const databaseOf = (name: ProgramName, { postgresUrl, walletUrl = postgresUrl }: Addresses): string =>
  name === 'wallet' || name === 'reconciler' ? walletUrl : postgresUrl

const metricsPortOf = (metricsPort: number | undefined) => (metricsPort === undefined ? {} : { metricsPort })

function metricsOf(ports: ReadonlyMap<ProgramName, number>): Pick<StackDescription, 'metrics'> {
  if (ports.size === 0) return {}
  return { metrics: Object.fromEntries([...ports].map(([name, port]) => [name, `http://127.0.0.1:${port}/metrics`])) }
}
