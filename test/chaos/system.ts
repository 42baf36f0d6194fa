import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined, type ServiceName, serviceNames } from '@backoffice/contracts'
import { Child, compileServices, heapOptions, type NatsOptions, servicesCache } from '@backoffice/local-stack'
import { patiently } from '@backoffice/process'
import { eventually, freePort, type TeamClient, type Teardown, temporaryFolder, testBed } from '@backoffice/test-kit'
import type pg from 'pg'
import { Link } from '../network.ts'
import { services } from '../services.ts'
import { NatsPart, type Part, PostgresPart, signal } from './backends.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const steppableClock = fileURLToPath(new URL('./steppable-clock.ts', import.meta.url))
/** /readyz itself waits two seconds for a backend. */
const answerTimeoutMs = 5_000
const stopTimeoutMs = 5_000

export interface ReplicaOptions {
  readonly name: string
  readonly service: ServiceName
  /** Keeps its log and its clock. */
  readonly dir: string
  readonly healthPort: number
  readonly environment: Readonly<Record<string, string>>
  /** What it reaches its backends through, and is reached through itself. */
  readonly links: readonly Link[]
}

/** A service's process that nobody killed has ended. */
export interface UnplannedExit {
  readonly part: string
  readonly how: string
  readonly wasReady: boolean
  readonly logTail: string
}

/** One process of a service. Whenever it ends it is started again, as a cluster does. */
export class Replica implements Part {
  readonly name: string
  readonly links: readonly Link[]
  readonly unplannedExits: UnplannedExit[] = []
  readonly #options: ReplicaOptions
  readonly #clockFile: string
  #child: Child | undefined
  #restarting: Promise<void> = Promise.resolve()
  #isReady = false
  #isKilled = false
  #isStopped = false

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.name = options.name
    this.links = options.links
    this.#clockFile = join(options.dir, `${options.name}.clock`)
    this.stepClock(0)
  }

  async start(): Promise<void> {
    const { service, dir, name, environment, healthPort } = this.#options
    this.#isReady = false
    this.#isKilled = false
    const child = await Child.start({
      name,
      command: process.execPath,
      args: [...heapOptions(service), '--import', steppableClock, `${root}services/${service}/src/main.ts`],
      cwd: root,
      env: {
        ...process.env,
        ...environment,
        // Who is killed keeps nothing of what it has compiled.
        NODE_COMPILE_CACHE: servicesCache,
        CHAOS_CLOCK_FILE: this.#clockFile,
        HEALTH_HOST: '127.0.0.1',
        HEALTH_PORT: String(healthPort),
      },
      logFile: join(dir, `${name}.log`),
      stopSignal: 'SIGTERM',
      stopTimeoutMs,
    })
    this.#child = child
    // It was asked to stop while this process began.
    if (this.#isStopped) signal(child.pid, 'SIGKILL')
    this.#restarting = child.exited.then(({ code, signal }) =>
      this.#startAgain(child, `${signal ?? `exit status ${code}`}`),
    )
  }

  async untilReady(): Promise<void> {
    await eventually(() => this.#isStopped || this.#looksReady())
  }

  async kill(): Promise<void> {
    this.#isReady = false
    this.#isKilled = true
    const child = this.#child
    if (child !== undefined) {
      signal(child.pid, 'SIGKILL')
      await child.exited
    }
    await this.untilReady()
  }

  freeze(): void {
    if (this.#child?.running) signal(this.#child.pid, 'SIGSTOP')
  }

  thaw(): void {
    if (this.#child?.running) signal(this.#child.pid, 'SIGCONT')
  }

  /** From now on its clock is off by so much. */
  stepClock(offsetMs: number): void {
    writeFileSync(this.#clockFile, String(offsetMs))
    // A process that has only begun would die of the signal. It reads the file anyway.
    if (this.#isReady && this.#child?.running) signal(this.#child.pid, 'SIGUSR2')
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#child?.running) signal(this.#child.pid, 'SIGKILL')
    await this.#restarting
  }

  async #looksReady(): Promise<boolean> {
    const child = this.#child
    const answer = await fetch(`http://127.0.0.1:${this.#options.healthPort}/readyz`, {
      signal: AbortSignal.timeout(patiently(answerTimeoutMs)),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`its /readyz answers ${answer.status}`)
    if (child === undefined || child !== this.#child || !child.running) return false
    this.#isReady = true
    // It may have read its clock before the last step.
    signal(child.pid, 'SIGUSR2')
    return true
  }

  async #startAgain(child: Child, how: string): Promise<void> {
    if (this.#isStopped) return
    if (!this.#isKilled) {
      this.unplannedExits.push({ part: this.name, how, wasReady: this.#isReady, logTail: child.logTail(10) })
    }
    await this.start()
  }
}

/** As much of a system as the oracle needs. Its services may also run in this process. */
export type Judged = Pick<ChaosSystem, 'sql' | 'team' | 'replicas'>

/** PostgreSQL, nats-server and two processes of each service, each with connections of its own to its backends. */
export interface ChaosSystem {
  readonly postgres: PostgresPart
  readonly nats: NatsPart
  readonly replicas: readonly Replica[]
  /** Addresses of the API, one for each gateway. */
  readonly baseUrls: readonly string[]
  /** The same of the surface of providers. */
  readonly providerUrls: readonly string[]
  /** Of the superuser. */
  readonly sql: pg.Pool
  /** The team's operations, called by one of its people. */
  readonly team: TeamClient
}

/**
 * Servers that fail, as a bed starts its own. They end after it.
 * @param prepare the folder that holds theirs, `postgres` and `nats`
 */
export async function startServers(t: Teardown, prepare: (dir: string) => void = () => {}) {
  const dir = temporaryFolder(t)
  prepare(dir)
  const [port, natsPort] = [await freePort(), await freePort()]
  // Its processes are killed, never the machine.
  const options = { port, password: 'password-of-postgres', durable: 'process' } as const
  const postgres = await PostgresPart.start({ ...options, dir: join(dir, 'postgres') })
  t.teardown(() => postgres.stop())
  const started = Promise.withResolvers<NatsPart>()
  let part: NatsPart | undefined
  // Said before the bed says how it ends, so that it still has a broker then.
  t.teardown(() => part?.stop())
  const nats = async (users: Pick<NatsOptions, 'passwords'>) => {
    part = await NatsPart.start({ dir: join(dir, 'nats'), port: natsPort, ...users })
    started.resolve(part)
    return part
  }
  return { dir, postgres, nats: started.promise, servers: { postgresUrl: postgres.url, nats } }
}

export async function startChaosSystem(t: Teardown): Promise<ChaosSystem> {
  const compiled = compileServices()
  const { dir, postgres, nats: starting, servers } = await startServers(t)
  const bed = await testBed(t, services, { servers, startServices: false })
  const nats = await starting
  const links: Link[] = []
  t.teardown(() => Promise.all(links.map((link) => link.close())))
  const openLink = async (url: string | number) => {
    const link = await Link.open(Number(typeof url === 'number' ? url : new URL(url).port))
    links.push(link)
    return link
  }
  const baseUrls: string[] = []
  const providerUrls: string[] = []
  const replicas: Replica[] = []
  for (const service of serviceNames) {
    for (const name of [`${service}-1`, `${service}-2`]) {
      const environment = bed.environment(service)
      const { DATABASE_URL = '', NATS_URL = '' } = environment
      const [toPostgres, toNats] = [await openLink(DATABASE_URL), await openLink(NATS_URL)]
      const [httpPort, providerPort] = [await freePort(), await freePort()]
      const fromClients = service === 'gateway' ? [await openLink(httpPort), await openLink(providerPort)] : []
      const [fromOperators, fromProviders] = fromClients.map(({ port }) => `http://127.0.0.1:${port}`)
      if (fromOperators !== undefined) baseUrls.push(`${fromOperators}/api/v1`)
      if (fromProviders !== undefined) providerUrls.push(fromProviders)
      replicas.push(
        new Replica({
          ...{ name, service, dir, healthPort: await freePort(), links: [toPostgres, toNats, ...fromClients] },
          environment: {
            ...environment,
            ...settings,
            ...defined({ PATIENCE: process.env.PATIENCE }),
            DATABASE_URL: onPort(DATABASE_URL, toPostgres.port),
            NATS_URL: onPort(NATS_URL, toNats.port),
            PORT: String(httpPort),
            PROVIDER_PORT: String(providerPort),
          },
        }),
      )
    }
  }
  t.teardown(() => Promise.all(replicas.map((replica) => replica.stop())))
  await compiled
  await Promise.all(replicas.map((replica) => replica.start()))
  await Promise.all(replicas.map((replica) => replica.untilReady()))
  return { postgres, nats, replicas, baseUrls, providerUrls, sql: bed.sql('admin'), team: bed.team('alice') }
}

/** Leases and sweeps that a person would wait for are as short as the longest call allows. */
export const shortWaits = {
  CLAIM_LEASE_MS: '9000',
  INTENT_ABANDON_AFTER_MS: '10000',
  INTENT_SWEEP_EVERY_MS: '1000',
  WEBHOOK_BACKOFF_BASE_MS: '50',
}
const settings = { ...shortWaits, LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn', DATABASE_POOL_MAX: '5' }

function onPort(url: string, port: number): string {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}
