import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { operations, type ServiceName, serviceNames } from '@backoffice/contracts'
import { freePort } from '@backoffice/local-stack'
import {
  eventually,
  type OperatorClient,
  startProcess,
  type Teardown,
  type TestBed,
  temporaryFolder,
  testBed,
  toolPath,
} from '@backoffice/test-kit'
import { balanceOf, expectStatus, fund, statementOf, sumOf } from '../journey.ts'
import { services } from '../services.ts'

const ownRoot = fileURLToPath(new URL('../../', import.meta.url))
const telemetry = 'packages/process/src/telemetry/register.ts'
/** Dozens of processes of the same code: only the first ones compile it. npm test has a folder for all of its processes. */
const compiled = `${ownRoot}.cache/compiled`

export interface Ports {
  readonly healthPort: number
  /** Of the API; the gateway's only. */
  readonly port: number
}

/** One process of a service. */
export interface Replica extends Ports {
  readonly name: ServiceName
  /** SIGTERM, and the exit status once it has drained. */
  stop(): Promise<number | null>
}

export interface ReplicaOptions {
  /** Where others expect it; free ones when left out. */
  readonly ports?: Ports
  readonly environment?: Readonly<Record<string, string>>
  /** Where the sources are; another release's, for example. */
  readonly root?: string
}

export interface Fleet {
  readonly bed: TestBed<typeof services>
  /** Starts one more process of a service and waits until it is ready. */
  start(name: ServiceName, options?: ReplicaOptions): Promise<Replica>
  /** Starts so many processes of each service. */
  startAll(count: number, options?: ReplicaOptions): Promise<Record<ServiceName, Replica[]>>
}

/** PostgreSQL and NATS with everything prepared as in production, and as many processes of each service as are wanted. */
export async function startFleet(t: Teardown): Promise<Fleet> {
  const bed = await testBed(t, services, { startServices: false })
  const start: Fleet['start'] = async (name, options = {}) => {
    const ports = options.ports ?? (await freePorts())
    const root = options.root ?? ownRoot
    const command = [process.execPath, '--import', `${root}${telemetry}`, `${root}services/${name}/src/main.ts`]
    const env = {
      ...process.env,
      ...bed.environment(name),
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? compiled,
      HEALTH_PORT: String(ports.healthPort),
      PORT: String(ports.port),
      ...options.environment,
    }
    const { child, ended, until } = startProcess(t, command, { cwd: root, env })
    await until(async () => (await fetch(`http://127.0.0.1:${ports.healthPort}/readyz`).catch(() => null))?.ok === true)
    const stop = () => {
      child.kill('SIGTERM')
      return ended
    }
    return { name, ...ports, stop }
  }

  return {
    bed,
    start,
    async startAll(count, options) {
      const entries = serviceNames.map(async (name): Promise<[ServiceName, Replica[]]> => {
        return [name, await Promise.all(Array.from({ length: count }, () => start(name, options)))]
      })
      return Object.fromEntries(await Promise.all(entries)) as Record<ServiceName, Replica[]>
    },
  }
}

export const freePorts = async (): Promise<Ports> => ({ healthPort: await freePort(), port: await freePort() })

export const baseUrlOf = (port: number): string => `http://127.0.0.1:${port}/api/v1`

/** Runs a proxy in the foreground with a configuration of its own until the test ends, and waits until it listens. */
export async function startProxy(
  t: Teardown,
  { program, configuration, port }: { program: 'haproxy' | 'nginx'; configuration: string; port: number },
): Promise<void> {
  // Its workers run as somebody else, and buffer bodies here.
  const dir = temporaryFolder(t)
  const file = join(dir, `${program}.conf`)
  writeFileSync(file, configuration.replaceAll('@DIR@', dir))
  const args = program === 'haproxy' ? ['-db', '-f', file] : ['-p', dir, '-c', file, '-g', 'daemon off;']
  const env = { ...process.env, PATH: toolPath }
  const { until } = startProcess(t, [program, ...args], { env, endsBy: 'SIGTERM' })
  // Any answer will do, its own 503 included.
  await until(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) !== null)
}

export interface LoadBalancer {
  readonly port: number
  /** Waits until exactly these places are in service. */
  serves(places: readonly Ports[]): Promise<void>
}

/**
 * In front of the gateway, as a load balancer that knows the places where replicas may be: it asks /readyz of each, and
 * repeats no request that was sent.
 */
export async function startLoadBalancer(t: Teardown, places: readonly Ports[]): Promise<LoadBalancer> {
  const [port, statusPort] = [await freePort(), await freePort()]
  const servers = places.map(({ port, healthPort }) => `  server at-${port} 127.0.0.1:${port} port ${healthPort}`)
  const configuration = `
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 10s
  option redispatch
  retries 2
  retry-on conn-failure
frontend api
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 100ms fall 1 rise 1
${servers.join('\n')}
listen status
  bind 127.0.0.1:${statusPort}
  stats enable
  stats uri /
`
  await startProxy(t, { program: 'haproxy', configuration, port })
  return {
    port,
    serves: async (wanted) => {
      const expected = wanted.map(({ port }) => `at-${port}`).toSorted()
      await eventually(async () => {
        const answer = await fetch(`http://127.0.0.1:${statusPort}/;csv`)
        const up = (await answer.text()).matchAll(/^gateways,(at-\d+),.*?,(?:UP|DOWN[^,]*),/gm)
        const names = [...up].filter(([line]) => line.endsWith(',UP,')).map(([, name]) => name)
        return names.toSorted().join() === expected.join()
      })
    },
  }
}

export interface Operator {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly secret: string
  readonly webhookSecret: string
}

/** A new operator's sandbox. The first answer may have to wait for services that are only just there. */
export async function newOperator({ bed }: Pick<Fleet, 'bed'>, rateLimitPerMinute = 1_000_000): Promise<Operator> {
  const input = { name: `operator ${randomUUID().slice(0, 8)}`, rateLimitPerMinute }
  const created = await eventually(() => bed.team('alice').call(operations.gateway.createOperator, { input }))
  const { key, secret, webhookSecret } = created.sandbox
  return { id: created.operatorId, name: created.name, key, secret: secret ?? '', webhookSecret: webhookSecret ?? '' }
}

/** Every item of the statement sums to the balance. */
export async function statementAgrees(client: OperatorClient, playerId: string): Promise<boolean> {
  const amounts = (await statementOf(client, playerId, 200)).map(({ amount }) => amount)
  return sumOf(amounts) === sumOf([await balanceOf(client, playerId)])
}

export interface Load {
  /** Requests answered as they should be, so far. */
  readonly answered: number
  /** Whole deposits that were confirmed, so far. */
  readonly deposits: number
  readonly failures: readonly string[]
  /** No further request; resolves when the last one is answered. */
  stop(): Promise<void>
}

/** What a client waits between requests: as many as the machine can do would take the processor from those who start. */
const pauseMs = 20

/** Each player's client at once, one request after the other: deposits of 1.00, confirmed, and reads. */
export function startLoad(client: OperatorClient, playerIds: readonly string[]): Load {
  const load = { answered: 0, deposits: 0, failures: [] as string[] }
  let stopped = false
  const step = async (run: () => Promise<unknown>, requests: number) => {
    await run()
    load.answered += requests
    await setTimeout(pauseMs)
  }
  const running = playerIds.map(async (playerId) => {
    while (!stopped) {
      try {
        await step(() => fund(client, playerId, '1.00'), 2)
        load.deposits += 1
        await step(async () => expectStatus(await client.get(`/players/${playerId}/wallet`), 200), 1)
        await step(async () => expectStatus(await client.get('/me'), 200), 1)
      } catch (error) {
        load.failures.push(`${new Date().toISOString()} ${error}`)
      }
    }
  })
  return Object.assign(load, {
    stop: async () => {
      stopped = true
      await Promise.all(running)
    },
  })
}
