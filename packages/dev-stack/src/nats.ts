import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type BrokerUser, brokerUsers, permissionsVariable } from '@backoffice/contracts'
import { Child } from './child.ts'
import { natsServerBinary } from './nats-server-binary.ts'
import { onPort } from './ports.ts'

const run = promisify(execFile)
/** The permissions of each program, in every environment. */
const folder = fileURLToPath(new URL('../../../deploy/nats', import.meta.url))
const permissionsFile = join(folder, 'permissions.conf')
const startTimeoutMs = 15_000
const stopTimeoutMs = 10_000

export interface NatsOptions {
  /** Holds the configuration, the JetStream store and the log. */
  readonly dir: string
  /** Any free one when left out. */
  readonly port?: number
  readonly passwords: Readonly<Record<BrokerUser, string>>
  /** Encrypts the store, as deploy/nats does for the cluster. */
  readonly storeKey?: string
}

export interface RunningNats {
  readonly url: string
  readonly child: Child
}

/** Starts nats-server with JetStream, one user per program and the permissions that every environment shares. */
export function startNats(options: NatsOptions): Promise<RunningNats> {
  return onPort(options.port, (port) => startOn(port, options))
}

async function startOn(port: number, options: NatsOptions): Promise<RunningNats> {
  const binary = await natsServerBinary()
  mkdirSync(options.dir, { recursive: true })
  const configuration = join(options.dir, 'nats.conf')
  const { stdout: version } = await run(binary, ['--version'])
  writeFileSync(configuration, renderConfiguration(options, { port, version }), { mode: 0o600 })
  const child = await Child.start({
    name: 'nats-server',
    command: binary,
    args: ['--config', configuration],
    env: process.env,
    logFile: join(options.dir, 'nats.log'),
    stopSignal: 'SIGTERM',
    stopTimeoutMs,
  })
  try {
    await child.waitUntil(() => greets(port), startTimeoutMs)
  } catch (error) {
    await child.stop()
    throw error
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    child,
  }
}

/** @param version what `nats-server --version` prints */
export function renderConfiguration(
  options: NatsOptions,
  { port, version }: { readonly port: number; readonly version: string },
): string {
  // Includes are relative to the including file; nats-server does not take absolute paths here.
  const shared = relative(options.dir, permissionsFile)
  return [
    `listen: "127.0.0.1:${port}"`,
    // As in deploy/nats: a process that hangs gets calls until it is missed.
    'ping_interval: "5s"',
    'ping_max: 2',
    'jetstream {',
    `  store_dir: "${join(options.dir, 'jetstream')}"`,
    ...(options.storeKey === undefined ? [] : ['  cipher: "aes"', `  key: "${options.storeKey}"`]),
    // As in deploy/nats: without it the last two minutes of acknowledged messages can be lost with the machine.
    ...(knowsSyncInterval(version) ? ['  sync_interval: always'] : []),
    '}',
    'authorization {',
    `  include "${shared}"`,
    '  users = [',
    ...brokerUsers.map(
      (name) =>
        `    { user: ${name}, password: "${options.passwords[name]}", permissions: $${permissionsVariable(name)} }`,
    ),
    '  ]',
    '}',
    '',
  ].join('\n')
}

/** A server before 2.10 does not start with a setting that it does not know. */
function knowsSyncInterval(version: string): boolean {
  const [, major, minor] = /v(\d+)\.(\d+)\./.exec(version) ?? []
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 10)
}

/** The server sends its INFO line as soon as it takes connections. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, () => done(false))
    socket.once('error', () => done(false))
    socket.once('data', (data) => done(data.toString().startsWith('INFO ')))
  })
}
