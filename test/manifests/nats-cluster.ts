import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brokerUsers } from '@backoffice/contracts'
import { freePort } from '@backoffice/dev-stack'
import type { CertificateFiles } from '@backoffice/test-kit'
import { deployFolder } from './kustomize.ts'

export interface Server {
  readonly name: string
  readonly clientUrl: string
  /** How many servers have joined this one. Each may have several connections to it. */
  joined(): Promise<number>
  /** Whether JetStream works here. */
  ready(): Promise<boolean>
  /** What people look at: the reply of the monitoring port. */
  look(path: string): Promise<string>
  /** SHA-256 of the certificates that clients have shown, by the users that they connected as. */
  shown(): Promise<ReadonlyMap<string, string>>
  log(): string
  /** Changes a file of its configuration and tells the server, as the reloader does beside it. */
  change(file: string, change: (text: string) => string): void
  kill(): Promise<void>
}

interface Connection {
  readonly authorized_user: string
  readonly tls_peer_certs?: readonly { readonly cert_sha256: string }[]
}

interface Ports {
  readonly client: number
  readonly route: number
  readonly monitoring: number
}

/** Of each user, unless a test has others. */
export const passwordOf = (user: string) => `secret-${user}`
export const users = brokerUsers
/** The Secret `nats`: files of its configuration. */
const sameSecrets: Readonly<Record<string, string>> = {
  ...Object.fromEntries(users.map((user) => [`${user}.conf`, `password: "${passwordOf(user)}"`])),
  'store-key.conf': 'key: "of-the-store"',
}

export async function portsFor(count: number): Promise<readonly Ports[]> {
  const ports: Ports[] = []
  while (ports.length < count)
    ports.push({ client: await freePort(), route: await freePort(), monitoring: await freePort() })
  return ports
}

/** Starts a server with deploy/nats/cluster.conf, on ports and in a folder of this machine. */
export async function startServer(
  index: number,
  {
    binary,
    dir,
    ports,
    certificate,
    authority,
    secrets = sameSecrets,
  }: {
    readonly binary: string
    readonly dir: string
    readonly ports: readonly Ports[]
    readonly certificate: CertificateFiles
    readonly authority: string
    readonly secrets?: Readonly<Record<string, string>>
  },
): Promise<Server> {
  const own = ports[index]
  if (own === undefined) throw new Error(`no ports for server ${index}`)
  const name = `nats-${index}`
  const folder = join(dir, name)
  mkdirSync(folder)
  cpSync(join(deployFolder, 'nats'), folder, { recursive: true })
  const files: Readonly<Record<string, string>> = {
    'tls.crt': certificate.certFile,
    'tls.key': certificate.keyFile,
    'ca.crt': authority,
  }
  const configuration = join(folder, 'cluster.conf')
  let text = readFileSync(configuration, 'utf8')
    .replace(/\/etc\/(?:nats-tls|authority)\/([a-z.]+)/g, (_, file) => files[file] ?? file)
    .replace('0.0.0.0:4222', `127.0.0.1:${own.client}`)
    .replace('0.0.0.0:6222', `127.0.0.1:${own.route}`)
    .replace('0.0.0.0:8222', `127.0.0.1:${own.monitoring}`)
    .replace('"/data"', JSON.stringify(join(folder, 'data')))
    .replace(/nats:\/\/nats-(\d)\.nats:6222/g, (_, other) => `nats://localhost:${ports[Number(other)]?.route}`)
  // Debian's 2.9 does not know it. A later server reads the file as it is.
  if (execFileSync(binary, ['--version'], { encoding: 'utf8' }).includes('v2.9.'))
    text = text.replace(/^\s*sync_interval: always$/m, '')
  writeFileSync(configuration, text)
  mountSecrets(folder, secrets)
  const child = spawn(binary, ['--config', configuration, '--log', join(folder, 'log')], {
    stdio: 'ignore',
    // Nothing secret is in it.
    env: { NATS_SERVER_NAME: name },
  })
  const ask = (path: string) => fetch(`http://127.0.0.1:${own.monitoring}${path}`)
  return {
    name,
    clientUrl: `tls://localhost:${own.client}`,
    joined: async () => {
      const { routes = [] } = (await (await ask('/routez')).json()) as { routes?: { readonly remote_id: string }[] }
      return new Set(routes.map(({ remote_id }) => remote_id)).size
    },
    look: async (path) => (await ask(path)).text(),
    shown: async () => {
      const { connections } = (await (await ask('/connz?auth=1')).json()) as { connections: readonly Connection[] }
      return new Map(connections.map((each) => [each.authorized_user, each.tls_peer_certs?.[0]?.cert_sha256 ?? '']))
    },
    ready: async () => (await ask('/healthz?js-server-only=true')).ok,
    change: (file, change) => {
      const path = join(folder, file)
      writeFileSync(path, change(readFileSync(path, 'utf8')))
      child.kill('SIGHUP')
    },
    log: () => readFileSync(join(folder, 'log'), { encoding: 'utf8', flag: 'a+' }),
    kill: () => killed(child),
  }
}

/** As the manifest does it: a user's password beside the configuration, the key of the store in a folder next to it. */
function mountSecrets(folder: string, secrets: Readonly<Record<string, string>>): void {
  const store = join(folder, '../nats-store')
  mkdirSync(store, { recursive: true })
  for (const [name, text] of Object.entries(secrets))
    writeFileSync(name === 'store-key.conf' ? join(store, 'key.conf') : join(folder, 'passwords', name), text)
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
