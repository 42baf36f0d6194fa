import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Rejection, teamConsole } from '@backoffice/contracts'
import {
  type ProcessName,
  readStack,
  type StackDescription,
  StackPerson,
  stackFileIn,
  stackSecrets,
  type TeamUser,
} from '@backoffice/local-stack'
import { newId } from '@backoffice/process'
import { connectNats, RpcClient } from '@backoffice/rpc'
import { exportSessionKey, newSessionKey } from '@backoffice/team-access/identity'
import type { NatsConnection } from '@nats-io/transport-node'
import { type BackendName, startBackends } from './backends.ts'
import { eventually, startProcess, type Teardown, temporaryFolder } from './started.ts'
import { lookingFirst, type TeamClient } from './team-calls.ts'

const ownCheckout = fileURLToPath(new URL('../../../', import.meta.url))

export interface SystemOptions {
  /** Environment variables of all processes, such as WEBHOOK_BACKOFF_BASE_MS. */
  readonly environment?: Readonly<Record<string, string>>
  /**
   * `own`: a PostgreSQL of its own, for a test that lets it or nats-server crash. Left out: a database of its own on the
   * tests' PostgreSQL. BACKENDS says what they are: processes of this machine, or containers.
   */
  readonly backends?: 'own'
  /** The wallet has a database of its own; with `own` backends, on a server of its own. */
  readonly databases?: 2
  /** Services of which a test kills one: they are processes of this machine even where SERVICE_IMAGES is set. */
  readonly services?: 'processes'
  /** The folder of another release, whose system it is. */
  readonly checkout?: string
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
  /**
   * Kills PostgreSQL, or nats-server with all that it stored, and waits until it runs again. Only for a system with
   * backends of its own.
   */
  crash(name: BackendName): Promise<void>
  /** What it printed so far. */
  printed(): string
  /** A client of the team's operations, as one of the `people`, who logs in whenever that is needed. */
  asTeam(person: TeamUser): Promise<TeamClient>
  /** The key of the machine `nightly`, an auditor. Services that run from their images do not know it. */
  readonly machineKeyFile: string
}

/** What of a system files may use that share it: none of them may end or freeze a part of it. */
export type SharedSystem = Omit<System, 'dir' | 'pid' | 'crash' | 'printed'>

/** Names the stack.json of the system that the runner has started for the files that share one. */
export const sharedSystemVariable = 'SHARED_STACK_JSON'

/** What files need that share a system: a delivery that failed is tried again soon. */
const sharedEnvironment = { WEBHOOK_BACKOFF_BASE_MS: '200' }

/**
 * The system of all files that share one, as `npm test` starts it for them; a file that runs alone starts its own. A file
 * counts and lists nothing but what is its own operators', for others work beside it.
 */
export async function sharedSystem(t: Teardown): Promise<SharedSystem> {
  const stackJson = process.env[sharedSystemVariable]
  if (stackJson === undefined) return startSharedSystem(t)
  const description = readStack(stackJson)
  const { asTeam, close } = teamOf(description, dirname(stackJson))
  t.teardown(close)
  return { ...description, stackJson, asTeam, machineKeyFile: machineKeyIn(dirname(stackJson)) }
}

/** For the runner: what `sharedSystem` then finds. */
export function startSharedSystem(t: Teardown, inherited: NodeJS.ProcessEnv = process.env): Promise<System> {
  return startSystem(t, { environment: sharedEnvironment, inherited })
}

/** Starts a system on a free port and a database of its own, and stops it with `t`. */
export async function startSystem(t: Teardown, options: SystemOptions = {}): Promise<System> {
  const environment = options.inherited ?? process.env
  const { POSTGRES_URL: _postgres, NATS_URL: _nats, SERVICE_IMAGES: images, ...inherited } = environment
  const own = options.backends === 'own'
  const asProcesses = options.services === 'processes' || own
  const services = images === undefined || asProcesses ? {} : { SERVICE_IMAGES: images }
  const dir = temporaryFolder(t)
  const { databases = 1, checkout = ownCheckout } = options
  const backends = await startBackends(dir, { own, databases, environment })

  const machines = 'SERVICE_IMAGES' in services ? {} : await makeMachine(dir)
  const env = { ...inherited, ...services, ...machines, ...backends.environment, ...options.environment }
  t.teardown(() => backends.stop())
  const main = join(checkout, 'local/stack/src/main.ts')
  const command = [process.execPath, main, '--dir', dir, '--port', '0', '--databases', String(databases)]
  const { until, printed } = startProcess(t, command, { env, endsBy: 'SIGTERM' })
  const stackJson = stackFileIn(dir)
  await until(() => existsSync(stackJson))
  const description = readStack(stackJson)
  const { asTeam, close } = teamOf(description, dir)
  t.teardown(close)
  const pid = (name: ProcessName) => {
    const pid = readStack(stackJson).processes[name]
    if (pid === undefined) throw new Error(`${name} is not a process of this system`)
    return pid
  }
  return {
    ...description,
    dir,
    stackJson,
    machineKeyFile: machineKeyIn(dir),
    pid,
    printed,
    asTeam,
    async crash(name) {
      if (!own) throw new Error(`others use ${name} too: only a system with backends of its own may lose it`)
      if (backends.crash !== null) return backends.crash(name)
      const dead = pid(name)
      process.kill(dead, 'SIGKILL')
      if (name === 'nats') rmSync(join(dir, 'nats/jetstream'), { recursive: true })
      await eventually(() => pid(name) !== dead)
    },
  }
}

/** Clients of the people of a running system, whose folder this is, and what ends them all. */
function teamOf({ natsUrl, issuer, consoleUrl }: StackDescription, dir: string) {
  const connections: NatsConnection[] = []
  const { [teamConsole]: password } = stackSecrets(dir).nats
  const asTeam = async (person: TeamUser) => {
    const login = { NATS_URL: natsUrl, NATS_USER: teamConsole, NATS_PASSWORD: password }
    const connection = await connectNats(login, { name: person })
    connections.push(connection)
    const signer = new StackPerson({ issuer, consoleUrl, person, tool: 'command line' })
    return lookingFirst({ call: untilKnown(new RpcClient(connection, signer)) })
  }
  return { asTeam, close: async () => void (await Promise.all(connections.map((connection) => connection.close()))) }
}

/** Of whom the outcome of a call is unknown sends the same one again. */
const untilKnown =
  (client: RpcClient): RpcClient['call'] =>
  async (operation, { operationId = newId('opn'), ...options }) => {
    const heard = await eventually(() =>
      client.call(operation, { ...options, operationId }).then(
        (reply) => ({ reply }),
        (error: unknown) => !(error instanceof Rejection && error.code === 'SERVICE_UNAVAILABLE') && { error },
      ),
    )
    if ('error' in heard) throw heard.error
    return heard.reply
  }

const machineKeyIn = (dir: string) => join(dir, 'machine.json')

/** A machine with a role. Its key is in the system's folder, where files that share the system find it. */
async function makeMachine(dir: string): Promise<Readonly<Record<string, string>>> {
  const key = await newSessionKey()
  const machinesFile = join(dir, 'machines.json')
  writeFileSync(machineKeyIn(dir), JSON.stringify(await exportSessionKey(key)))
  writeFileSync(machinesFile, JSON.stringify([{ name: 'nightly', publicKey: key.publicJwk, roles: ['auditor'] }]))
  return { TEAM_MACHINES_FILE: machinesFile }
}
