// proof: three nats-servers as production runs them, and one of them is lost. They change with deploy/nats alone.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { eventSubject, streamApi, streamBytesMin, streamConfiguration } from '@backoffice/contracts'
import { natsServerBinary, natsServerWarning } from '@backoffice/dev-stack'
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
import { passwordOf, portsFor, startServer, users } from './nats-cluster.ts'

/** One that shows a certificate of another authority, and one that shows a name which is no server's. */
const refusedRoute = /TLS route handshake error|rid:.* authentication error/gi

const binary = await natsServerBinary()
// In an older one routes between servers are another thing, and nobody has a cluster of them.
const skip = unlessRequired((await natsServerWarning(binary)) ?? false)
t.test('three nats-servers as production runs them', { skip }, (t) => testCluster(t, binary))

interface Made {
  readonly config: { readonly num_replicas: number }
}

/** Of what a server says about JetStream. */
interface Seen {
  readonly meta_cluster: { readonly leader?: string }
  readonly account_details?: readonly {
    readonly stream_detail: readonly {
      readonly name: string
      readonly cluster: { readonly replicas?: readonly object[] }
    }[]
  }[]
}

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
      t.equal(await fourth.joined(), 0)
      await fourth.kill()
    })

  await t.test('the monitoring port of any server shows the stream, its copies and who is connected', async (t) => {
    const connectAs = async (user: string) => {
      const connection = await connectNats({ ...loginOf(user), NATS_URL }, { name: user })
      t.teardown(() => connection.close())
      return connection
    }
    const streams = await connectAs('streams')
    const stream = JSON.stringify(streamConfiguration({ replicas: 3, bytesMax: streamBytesMin }))
    await eventually(async () => (await streams.request(streamApi.create, stream)).json<Made>().config.num_replicas)
    for (const { look } of servers) {
      const seen = async () => JSON.parse(await look('/jsz?consumers=true')) as Seen
      t.ok(
        await eventually(async () => {
          const { meta_cluster, account_details = [] } = await seen()
          const [detail] = account_details[0]?.stream_detail ?? []
          return meta_cluster.leader && detail?.name === 'EVENTS' && detail.cluster.replicas?.length === 2
        }),
      )
    }
    const users = (await Promise.all(servers.map(({ shown }) => shown()))).flatMap((shown) => [...shown.keys()])
    t.ok(users.includes('streams'))
    // Who may ask the servers' own account may send anybody away: nobody may.
    await t.rejects(streams.request('$SYS.REQ.SERVER.PING.VARZ', '{}', { timeout: limitsMs.jetStream }), {
      message: /Permissions Violation/i,
    })
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
