// proof: three nats-servers as production runs them, and one of them is lost. They change with deploy/nats alone.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brokerUsers, eventSubject, streamApi, streamBytesMin, streamConfiguration } from '@backoffice/contracts'
import { freePort, natsServerBinary, natsServerWarning } from '@backoffice/local-stack'
import { limitsMs } from '@backoffice/process'
import { connectNats } from '@backoffice/rpc'
import {
  type CertificateFiles,
  eventually,
  makeCertificate,
  makeClientCertificate,
  temporaryFolder,
  unlessRequired,
} from '@backoffice/test-kit'
import { connect, headers, type NatsConnection } from '@nats-io/transport-node'
import t, { type Test } from 'tap'
import { deployFolder } from './kustomize.ts'

/** One that shows a certificate of another authority, and one that shows a name which is no server's. */
const refusedRoute = /TLS route handshake error|rid:.* authentication error/gi

/** Of each user. */
const passwordOf = (user: string) => `secret-${user}`
const users = brokerUsers
/** The Secret `nats`: files of its configuration. */
const secrets: Readonly<Record<string, string>> = {
  ...Object.fromEntries(users.map((user) => [`${user}.conf`, `password: "${passwordOf(user)}"`])),
  'store-key.conf': 'key: "of-the-store"',
}

const binary = await natsServerBinary()
// In an older one routes between servers are another thing, and nobody has a cluster of them.
const skip = unlessRequired((await natsServerWarning(binary)) ?? false)
t.test('three nats-servers as production runs them', { skip }, (t) => testCluster(t, binary))

/** Three servers with the configuration of the cluster. */
async function testCluster(t: Test, binary: string): Promise<void> {
  const dir = temporaryFolder(t)
  const [ours, stranger] = [await makeCertificate(dir, 'ours'), await makeCertificate(dir, 'stranger')]
  const ports = await portsFor(5)
  const start = async (index: number, certificate = ours) => {
    const server = await startServer(index, { binary, dir, ports, certificate, authority: ours.certFile })
    t.teardown(() => server.kill())
    return server
  }
  const servers = [await start(0), await start(1), await start(2)]
  const certificates = new Map<string, CertificateFiles>()
  for (const user of users) certificates.set(user, await makeClientCertificate(dir, user, ours))
  const certificateOf = (user: string) => certificates.get(user) ?? stranger
  const loginOf = (NATS_USER: string, NATS_PASSWORD = passwordOf(NATS_USER)) => ({
    NATS_USER,
    NATS_PASSWORD,
    NATS_CA_FILE: ours.certFile,
    NATS_CERT_FILE: certificateOf(NATS_USER).certFile,
    NATS_KEY_FILE: certificateOf(NATS_USER).keyFile,
  })
  const login = loginOf('payments')
  const NATS_URL = servers.map(({ clientUrl }) => clientUrl).join(',')

  await t.test('find one another over TLS and become ready', async (t) => {
    for (const server of servers)
      t.ok(await eventually(async () => (await server.joined()) === 2 && (await server.ready())), server.name)
  })

  await t.test('a client must trust the authority and speak TLS', async (t) => {
    const one = { ...login, NATS_URL: servers[0]?.clientUrl ?? '' }
    const connection = await connectNats(one, { name: 'payments', attemptsMax: 1 })
    t.equal(connection.info?.tls_required, true)
    await connection.close()
    await t.rejects(connectNats({ ...one, NATS_CA_FILE: stranger.certFile }, { name: 'payments', attemptsMax: 1 }))
  })

  await t.test('a password opens nothing without the certificate of its user, nor the other way round', async (t) => {
    const connects = (pass: string, shown: Partial<CertificateFiles>) =>
      connect({
        servers: servers[0]?.clientUrl ?? '',
        user: 'payments',
        pass,
        tls: { caFile: ours.certFile, ...shown },
        reconnect: false,
      })
    const itsPassword = passwordOf('payments')
    await t.rejects(connects(itsPassword, {}), 'without a certificate')
    const forged = await makeClientCertificate(temporaryFolder(t), 'payments', stranger)
    await t.rejects(connects(itsPassword, forged), 'of another authority')
    const refused = { message: /Authorization Violation/i }
    for (const user of ['console', 'streams'])
      await t.rejects(connects(itsPassword, certificateOf(user)), refused, `of ${user}`)
    await t.rejects(connects(itsPassword, ours), refused, 'of a server')
    await t.rejects(connects('guessed', certificateOf('payments')), refused)
    await (await connects(itsPassword, certificateOf('payments'))).close()
  })

  await t.test('a renewed certificate is shown at the next connection of a program that runs', async (t) => {
    const connection = await connectNats(
      { ...loginOf('wallet'), NATS_URL: servers[0]?.clientUrl ?? '' },
      { name: 'wallet' },
    )
    t.teardown(() => connection.close())
    const shown = async () => (await servers[0]?.shown())?.get('wallet')
    const fingerprint = () => {
      const { fingerprint256 } = new X509Certificate(readFileSync(certificateOf('wallet').certFile))
      return fingerprint256.replaceAll(':', '').toLowerCase()
    }
    const before = fingerprint()
    t.equal(await shown(), before)
    await makeClientCertificate(dir, 'wallet', ours)
    t.not(fingerprint(), before)
    await connection.reconnect()
    t.ok(await eventually(async () => (await shown()) === fingerprint()))
  })

  for (const [index, whose, certificate] of [
    [3, 'of a stranger', stranger],
    [4, 'of a client', certificateOf('wallet')],
  ] as const)
    await t.test(`a server with the certificate ${whose} does not join`, async (t) => {
      const refusals = () => servers.flatMap(({ log }) => log().match(refusedRoute) ?? []).length
      const before = refusals()
      const fourth = await start(index, certificate)
      // It tried, and was refused; those who belong have each other only.
      await eventually(() => refusals() > before)
      for (const server of servers) t.equal(await server.joined(), 2)
      // It may be refused before it listens to who asks.
      t.equal(await eventually(() => fourth.joined()), 0)
      await fourth.kill()
    })

  await t.test(
    'a new password holds without a restart, the old one no longer, and others stay connected',
    async (t) => {
      const connectAs = (user: string, secret: string, url: string) => {
        return connectNats({ ...loginOf(user, secret), NATS_URL: url }, { name: user, attemptsMax: 1 })
      }
      const one = servers[0]?.clientUrl ?? ''
      const team = await connectAs('console', passwordOf('console'), one)
      t.teardown(() => team.close())
      const told: string[] = []
      void (async () => {
        for await (const { type } of team.status()) told.push(type)
      })()
      for (const user of ['wallet', 'gateway']) {
        for (const server of servers) server.change(`passwords/${user}.conf`, () => 'password: "renewed"')
        for (const { clientUrl } of servers) {
          const connection = await eventually(() => connectAs(user, 'renewed', clientUrl))
          await connection.close()
          await t.rejects(connectAs(user, passwordOf(user), clientUrl), { message: /Authorization Violation/i })
        }
      }
      await team.flush()
      t.notOk(told.includes('disconnect'), 'the console has noticed nothing')
    },
  )

  await t.test('an event that was acknowledged is kept when a server is lost, and the next one is taken', async (t) => {
    const connection = await connectNats({ ...login, NATS_URL }, { name: 'payments' })
    t.teardown(() => connection.close())
    const streams = await connectNats({ ...loginOf('streams'), NATS_URL }, { name: 'streams' })
    t.teardown(() => streams.close())
    const ask = async (user: NatsConnection, subject: string, payload: string, id = '') => {
      const named = headers()
      if (id !== '') named.set('Nats-Msg-Id', id)
      const reply = await user.request(subject, payload, { timeout: limitsMs.jetStream, headers: named })
      const { error, ...answer } = JSON.parse(reply.string())
      if (error !== undefined) throw new Error(error.description)
      return answer
    }
    // Repeated under the same id until it is acknowledged, as the outbox does.
    const publish = (id: string) => eventually(() => ask(connection, eventSubject('deposit.confirmed'), '{}', id))
    const stream = streamConfiguration({ replicas: 3, bytesMax: streamBytesMin })
    const made = await eventually(() => ask(streams, streamApi.create, JSON.stringify(stream)))
    t.equal(made.config.num_replicas, 3)
    t.equal((await publish('one')).seq, 1)

    const leader = servers.find(({ name }) => name === made.cluster.leader)
    await leader?.kill()
    t.equal((await publish('two')).seq, 2)
    const info = await eventually(() => ask(streams, streamApi.info, ''))
    t.equal(info.state.messages, 2)
    t.not(info.cluster.leader, made.cluster.leader)
  })
}

interface Server {
  readonly name: string
  readonly clientUrl: string
  /** How many servers have joined this one. Each may have several connections to it. */
  joined(): Promise<number>
  /** Whether JetStream works here. */
  ready(): Promise<boolean>
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

async function portsFor(count: number): Promise<readonly Ports[]> {
  const ports: Ports[] = []
  while (ports.length < count)
    ports.push({ client: await freePort(), route: await freePort(), monitoring: await freePort() })
  return ports
}

/** Starts a server with deploy/nats/cluster.conf, on ports and in a folder of this machine. */
async function startServer(
  index: number,
  {
    binary,
    dir,
    ports,
    certificate,
    authority,
  }: {
    readonly binary: string
    readonly dir: string
    readonly ports: readonly Ports[]
    readonly certificate: CertificateFiles
    readonly authority: string
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
  mountSecrets(folder)
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
function mountSecrets(folder: string): void {
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
