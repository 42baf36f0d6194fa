import { fileURLToPath } from 'node:url'
import { type ServiceName, serviceNames } from '@backoffice/contracts'
import { freePort } from '@backoffice/dev-stack'
import { startProcess, type Teardown, type TestBed, testBed } from '@backoffice/test-kit'
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
export async function startFleet(t: Teardown, environment: Readonly<Record<string, string>> = {}): Promise<Fleet> {
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
      ...environment,
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
