import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { providerApiPrefix } from '@backoffice/contracts'
import { Child } from './child.ts'
import { commandLineClientId, consoleClientId, type IdentitySettings, identityEnvironment } from './identity/people.ts'
import type { StackSecrets } from './secrets.ts'
import type { ProgramName, StackProvider } from './stack-file.ts'

/** Longer than a service's own drain, which ends in-flight requests. */
const stopTimeoutMs = 30_000

const identityStopTimeoutMs = 10_000

/** How long the reconciler stays when nobody asks it and no run is under way: who looks at a page opens another. */
const idleMs = '600000'

/** It runs when somebody of the team calls it, or when something is due. */
export const onDemand = 'reconciler' as const

/** A service may call those before it while it drains, so the last to start is the first to stop. */
const residents: readonly ProgramName[] = ['webhooks', 'wallet', 'players', 'payments', 'gateway', 'console']

/** It calls the gateway as a provider of games, with a key that is issued when the others run. */
export const startsLast = 'games' as const

/** What runs all the time. Metrics can be read of a process alone, so where they are shown nothing starts on demand. */
export const startOrder = (): readonly ProgramName[] => (showsMetrics() ? [onDemand, ...residents] : residents)

const exportEveryMsDefault = 300_000

/** How often something of the reconciler is due, by the settings that are given to all; 0 is never. */
export function onDemandEveryMs(environment: NodeJS.ProcessEnv): number {
  const { RECONCILE_EVERY_MS, HEADS_BUCKET, HEADS_EXPORT_DIR, HEADS_EXPORT_EVERY_MS } = environment
  const exportsHeads = Boolean(HEADS_BUCKET || HEADS_EXPORT_DIR)
  const all = [RECONCILE_EVERY_MS, exportsHeads ? (HEADS_EXPORT_EVERY_MS ?? exportEveryMsDefault) : 0].map(Number)
  const due = all.filter((everyMs) => everyMs > 0)
  return due.length === 0 ? 0 : Math.min(...due)
}

/** They keep operators' secrets, personal data, or both. */
const seals: readonly ProgramName[] = ['gateway', 'players', 'payments', 'webhooks']

/** Whether the services show metrics to Prometheus: each then needs a port of its own on this one machine. */
export const showsMetrics = (): boolean => process.env.OTEL_METRICS_EXPORTER === 'prometheus'

interface ServiceOptions {
  readonly name: ProgramName
  readonly logFile: string
  /** Absent for the console, which has no data of its own. */
  readonly databaseUrl: string | undefined
  readonly natsUrl: string
  readonly secrets: StackSecrets
  readonly identity: IdentitySettings
  readonly healthPort: number
  /** Of the metrics, where they are shown. */
  readonly metricsPort?: number
  /** Of the gateway's HTTP server. */
  readonly httpPort: number
  readonly baseUrl: string
  /** Where providers of games call the gateway. */
  readonly providerPort: number
  /** What the games call it with. */
  readonly provider?: StackProvider
  /** Where players' browsers reach the games; a restart must not move it. */
  readonly gamesPort: number
  /** Ends a start that is under way. */
  readonly signal: AbortSignal
}

/** Starts one service, the games or the console, as a process of its own and waits until it says that it is ready. */
export function startServiceProcess(options: ServiceOptions): Promise<Child> {
  const { name, logFile, healthPort, signal } = options
  const env = serviceEnvironment(options)
  const program = { name, ...serviceCommand(name, env), env, logFile, stopTimeoutMs, signal }
  return Child.startReady({ ...program, stopSignal: 'SIGTERM' }, (over) => isReady(healthPort, over))
}

function serviceEnvironment({ name, secrets, identity, ...options }: ServiceOptions): NodeJS.ProcessEnv {
  const { databaseUrl } = options
  return {
    // Settings such as LOG_LEVEL or WEBHOOK_BACKOFF_BASE_MS reach the services as they were given to npm start.
    ...process.env,
    DEVELOPMENT: 'true',
    NODE_COMPILE_CACHE: servicesCache,
    MALLOC_ARENA_MAX: '1',
    OTEL_SERVICE_NAME: name,
    ...identityEnvironment(identity.issuer, identity.console.url),
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    // The URL has it. A shell may have one of something else, which would be a second one.
    DATABASE_PASSWORD: '',
    ...(name === onDemand && !showsMetrics() ? { LEAVE_WHEN_IDLE_MS: process.env.LEAVE_WHEN_IDLE_MS ?? idleMs } : {}),
    ...(name === 'games'
      ? gamesEnvironment(options)
      : { NATS_URL: options.natsUrl, NATS_USER: name, NATS_PASSWORD: secrets.nats[name] }),
    HEALTH_PORT: String(options.healthPort),
    ...(options.metricsPort === undefined
      ? {}
      : { OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1', OTEL_EXPORTER_PROMETHEUS_PORT: String(options.metricsPort) }),
    ...(seals.includes(name) ? { MASTER_KEYS: secrets.masterKeys } : {}),
    HEALTH_HOST: '127.0.0.1',
    ...(name === 'players' ? { GAMES_BASE_URL: `http://127.0.0.1:${options.gamesPort}` } : {}),
    ...(name === 'gateway'
      ? {
          ...{ PORT: String(options.httpPort), HOST: '127.0.0.1', PUBLIC_BASE_URL: options.baseUrl },
          ...{ PROVIDER_PORT: String(options.providerPort), PROVIDER_HOST: '127.0.0.1' },
        }
      : {}),
    ...(name === 'console' ? consoleEnvironment(secrets, identity) : {}),
  }
}

export const providerUrlOn = (port: number): string => `http://127.0.0.1:${port}${providerApiPrefix}`

const gamesEnvironment = ({
  gamesPort,
  providerPort,
  provider,
}: Pick<ServiceOptions, 'gamesPort' | 'providerPort' | 'provider'>) => ({
  GAMES_HOST: '127.0.0.1',
  GAMES_PORT: String(gamesPort),
  ...(provider === undefined
    ? {}
    : {
        GAMES_PROVIDER_URL: providerUrlOn(providerPort),
        GAMES_PROVIDER_KEY: provider.key,
        GAMES_PROVIDER_SECRET: provider.secret,
      }),
})

const consoleEnvironment = ({ console }: StackSecrets, identity: IdentitySettings) => ({
  CONSOLE_URL: identity.console.url,
  CONSOLE_HOST: '127.0.0.1',
  CONSOLE_PORT: String(identity.console.port),
  CONSOLE_CLIENT_ID: consoleClientId,
  CONSOLE_CLI_CLIENT_ID: commandLineClientId,
  CONSOLE_CLIENT_SECRET: console.clientSecret,
  CONSOLE_SESSION_KEYS: console.sessionKeys,
})

async function isReady(healthPort: number, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${healthPort}/readyz`, { signal })
  await response.body?.cancel()
  return response.ok
}

const root = fileURLToPath(new URL('../../../', import.meta.url))
/**
 * Where Node keeps the modules that it has compiled, types stripped: the next process starts sooner, and needs some 25
 * MiB less, because it does not load the code that strips types.
 */
export const compileCache = join(root, 'node_modules/.cache/node-compile')
/** V8 takes what was compiled under the same options alone, and those of the services are others (heapOptions). */
export const servicesCache = join(compileCache, 'services')
const telemetry = join(root, 'packages/process/src/telemetry/register.ts')

/**
 * Fills their cache before the first start: one process compiles in a second what each would compile for itself. When it
 * cannot, a service says for itself what is wrong.
 */
export async function compileServices(): Promise<void> {
  if (existsSync(servicesCache)) return
  const modules = globSync('services/*/src/{service,program}.ts', { cwd: root })
  const imports = modules.map((path) => `await import(${JSON.stringify(join(root, path))})`).join('\n')
  const env = { ...process.env, OTEL_SDK_DISABLED: 'true', NODE_COMPILE_CACHE: servicesCache }
  const args = [...heapOptions('gateway'), '--import', telemetry, '--input-type=module', '--eval', imports]
  await promisify(execFile)(process.execPath, args, { env }).catch(() => {})
}

interface ServiceCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
}

const settings =
  /^(CHECKPOINT|CLAIM|CONNECTIONS|CONSOLE|CORRECT|DATABASE|DELIVERIES|DEVELOPMENT|DRAIN|EVENTS|FAILED_AUTHENTICATIONS|GAMES?|HEADS|HEALTH|HOST|INBOX|INTENT|KEEP|KYC|LEAVE|LOG|MASTER_KEYS|NATS|OTEL|PATIENCE|PAY|PLAY|PLAYER|PORT|PRODUCTION|PROVIDER|PUBLIC|RECONCILE|REPLIES|SANDBOX|SCHEMA|SET_ASIDE|STATUS|SURFACES|TEAM|TLS|TRUSTED|UNRESOLVED|WEBHOOK)(_|$)/
/** Of all users together, for the servers: a service has one password of each. */
const passwordsOfOthers = /^(DATABASE|NATS)_PASSWORD_/

/**
 * Whether a variable may enter a container: a service's settings may, and nothing else that happens to be in the
 * environment, such as the administrator's POSTGRES_URL or a token of the person who runs this.
 */
export const isSetting = (name: string): boolean => settings.test(name) && !passwordsOfOthers.test(name)

/**
 * The young generation of the heap. Beside 4 MiB, 16 let a page of a statement come 15 % more often, deliveries 10 % and
 * pairs of 128 clients 14 %, for 20 MiB more of each busy service. 32 bring no more. The games need less. A program that
 * has started, or rests again, collects its garbage (program.ts). The images set the same options, and the same MALLOC_ARENA_MAX:
 * memory that each thread would keep for itself is 30 MiB.
 */
export const heapOptions = (name: ProgramName) => [`--max-semi-space-size=${name === 'games' ? 1 : 16}`, '--expose-gc']

/**
 * How a program is started: from these sources, or from its image where SERVICE_IMAGES says what images are called, such
 * as `backoffice/{service}:local`.
 */
export function serviceCommand(program: ProgramName, env: NodeJS.ProcessEnv): ServiceCommand {
  const images = env.SERVICE_IMAGES
  if (images !== undefined && images !== '') return { cwd: root, ...inContainer(program, images, env) }
  const args = [...heapOptions(program), '--import', telemetry, join(root, `services/${program}/src/main.ts`)]
  return { cwd: root, command: process.execPath, args }
}

/** On this machine's network, where the other parts are. Signals and the exit status pass through `docker run`. */
function inContainer(program: ProgramName, images: string, env: NodeJS.ProcessEnv) {
  const names = Object.keys(env).filter(isSetting)
  // As the manifests confine it.
  const confinement = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges']
  const variables = names.flatMap((name) => ['--env', name])
  const image = images.replace('{service}', program)
  return { command: 'docker', args: ['run', '--rm', '--network=host', ...confinement, ...variables, image] }
}

/** Starts the identity provider and waits until it answers. @param file its settings */
export function startIdentityProvider(
  file: string,
  { issuer }: IdentitySettings,
  logFile: string,
  signal?: AbortSignal,
): Promise<Child> {
  const options = {
    name: 'identity',
    command: process.execPath,
    args: ['--max-semi-space-size=1', join(root, 'local/stack/src/identity/main.ts'), file],
    env: { ...process.env, DEVELOPMENT: 'true', NODE_COMPILE_CACHE: compileCache },
    logFile,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: identityStopTimeoutMs,
    signal,
  } as const
  return Child.startReady(options, (over) => answers(issuer, over))
}

async function answers(issuer: string, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, { signal })
  await response.body?.cancel()
  return response.ok
}

/** Where the migration Job works, and with which rights. */
interface Backends {
  /** Of the database, with a role that may create roles and owns the database. */
  readonly administratorUrl: string
  /** Of the wallet's own, where it has one. */
  readonly walletUrl: string | undefined
  readonly databaseRoles: Readonly<Record<string, string>>
  readonly natsUrl: string
  /** Of the user that makes the stream. */
  readonly streamsPassword: string
}

/**
 * Runs the program that production's migration Job runs: it prepares the database and the stream.
 * @throws what it printed, when it failed
 */
export async function prepareBackends(backends: Backends): Promise<void> {
  const variables = Object.entries(backends.databaseRoles).map(([role, password]) => [
    `DATABASE_PASSWORD_${role.toUpperCase()}`,
    password,
  ])
  const env = {
    ...process.env,
    DEVELOPMENT: 'true',
    NODE_COMPILE_CACHE: compileCache,
    ...Object.fromEntries(variables),
    ADMIN_DATABASE_URL: backends.administratorUrl,
    ADMIN_DATABASE_URL_WALLET: backends.walletUrl,
    NATS_URL: backends.natsUrl,
    NATS_PASSWORD: backends.streamsPassword,
  }
  try {
    await promisify(execFile)(process.execPath, [join(root, 'services/migrator/src/main.ts')], { env })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`database and stream could not be prepared:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error })
  }
}
