import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { teamConsole } from '@backoffice/contracts'
import {
  type ProcessName,
  readStack,
  type StackDescription,
  StackPerson,
  stackFileIn,
  stackSecrets,
  type TeamUser,
} from '@backoffice/dev-stack'
import { connectNats, RpcClient } from '@backoffice/service-runtime/client'
import type { NatsConnection } from '@nats-io/transport-node'
import { areContainersWanted, startContainers } from './containers.ts'
import { eventually } from './eventually.ts'
import { createEmptyDatabase } from './postgres.ts'
import type { Teardown } from './test-bed.ts'

const mainFile = fileURLToPath(new URL('../../dev-stack/src/main.ts', import.meta.url))
const startTimeoutMs = 90_000

export interface SystemOptions {
  /** Environment variables of all processes, such as WEBHOOK_BACKOFF_BASE_MS. */
  readonly environment?: Readonly<Record<string, string>>
  /**
   * `embedded`: its own PostgreSQL and nats-server as supervised processes, for a test that kills them. Left out:
   * the tests' PostgreSQL and its own nats-server; or containers, where BACKENDS=containers asks for them.
   */
  readonly backends?: 'embedded'
  /** Services of which a test kills one: they are processes of this machine even where SERVICE_IMAGES is set. */
  readonly services?: 'processes'
  /** In place of this process's own environment, for one that starts a system for others. */
  readonly inherited?: NodeJS.ProcessEnv
}

/** The whole system as `npm start` runs it: five services and the games as processes, reached over HTTP. */
export interface System extends StackDescription {
  /** Its folder; `STACK_JSON` for the team's command line is `stack.json` in it. */
  readonly dir: string
  readonly stackJson: string
  /** The number that a process has now; a restart changes it. */
  pid(name: ProcessName): number
  /** What it printed so far. */
  printed(): string
  /** A client of the team's operations, as one of the `people`, who logs in whenever that is needed. */
  asTeam(person: TeamUser): Promise<RpcClient>
}

/** What of a system files may use that share it: none of them may end or freeze a part of it. */
export type SharedSystem = Omit<System, 'dir' | 'pid' | 'printed'>

/** Names the stack.json of the system that the runner has started for the files that share one. */
export const sharedSystemVariable = 'SHARED_STACK_JSON'

/**
 * The system of all files that share one, as `npm test` starts it for them; a file that runs alone starts its own. A file
 * counts and lists nothing but what is its own operators', for others work beside it.
 */
export async function sharedSystem(t: Teardown): Promise<SharedSystem> {
  const stackJson = process.env[sharedSystemVariable]
  if (stackJson === undefined) return startSystem(t)
  const description = readStack(stackJson)
  const { asTeam, close } = teamOf(description, dirname(stackJson))
  t.teardown(close)
  return { ...description, stackJson, asTeam }
}

/** Starts a system on a free port and a database of its own, and stops it with `t`. */
export async function startSystem(t: Teardown, options: SystemOptions = {}): Promise<System> {
  const environment = options.inherited ?? process.env
  const { POSTGRES_URL: postgresUrl, NATS_URL: _nats, SERVICE_IMAGES: images, ...inherited } = environment
  const asProcesses = options.services === 'processes' || options.backends === 'embedded'
  const services = images === undefined || asProcesses ? {} : { SERVICE_IMAGES: images }
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-system-'))
  chmodSync(dir, 0o755)
  const backends =
    options.backends === 'embedded'
      ? ownBackends
      : await chooseBackends(areContainersWanted(environment), dir, postgresUrl)

  const env = { ...inherited, ...services, ...backends.environment, ...options.environment }
  const child = spawn(process.execPath, [mainFile, '--dir', dir, '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk
    })
  }
  let closeTeam = async () => {}
  t.teardown(async () => {
    await closeTeam()
    child.kill('SIGTERM')
    await exited
    await backends.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const stackJson = stackFileIn(dir)
  await eventually(() => child.exitCode !== null || existsSync(stackJson), startTimeoutMs)
  if (child.exitCode !== null) throw new Error(`the system did not start:\n${text}`)
  const description = readStack(stackJson)
  const { asTeam, close } = teamOf(description, dir)
  closeTeam = close
  return {
    ...description,
    dir,
    stackJson,
    printed: () => text,
    asTeam,
    pid(name) {
      const pid = readStack(stackJson).processes[name]
      if (pid === undefined) throw new Error(`${name} is not a process of this system`)
      return pid
    },
  }
}

/** Clients of the people of a running system, whose folder this is, and what ends them all. */
function teamOf({ natsUrl, issuer }: StackDescription, dir: string) {
  const connections: NatsConnection[] = []
  const { [teamConsole]: password } = stackSecrets(dir).nats
  const asTeam = async (person: TeamUser) => {
    const login = { NATS_URL: natsUrl, NATS_USER: teamConsole, NATS_PASSWORD: password }
    const connection = await connectNats(login, { name: person })
    connections.push(connection)
    return new RpcClient(connection, new StackPerson({ issuer, person, tool: 'command line' }))
  }
  return { asTeam, close: async () => void (await Promise.all(connections.map((connection) => connection.close()))) }
}

interface Backends {
  /** POSTGRES_URL and NATS_URL, for `npm start`. */
  readonly environment: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

/** Those that the stack starts by itself. */
const ownBackends: Backends = { environment: {}, stop: async () => {} }

async function chooseBackends(containers: boolean, dir: string, shared: string | undefined): Promise<Backends> {
  // With the passwords of the stack's own secrets, so that whoever knows its folder can log in.
  if (containers) return startContainers(stackSecrets(dir).nats)
  if (shared === undefined) return ownBackends
  const database = await createEmptyDatabase(shared)
  return { environment: { POSTGRES_URL: database.url }, stop: database.drop }
}
