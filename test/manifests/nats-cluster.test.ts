import { execFileSync } from 'node:child_process'
import { eventSubject, streamApi, streamBytesMin, streamConfiguration } from '@backoffice/contracts'
import { natsServerBinary } from '@backoffice/dev-stack'
import { connectNats } from '@backoffice/rpc'
import { eventually, makeCertificate, skipWithout, temporaryFolder } from '@backoffice/test-kit'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import t, { type Test } from 'tap'
import { password, portsFor, startServer } from './nats-cluster.ts'

t.setTimeout(300_000)
const soonMs = 60_000

t.test('with the nats-server of this machine', async (t) => testCluster(t, await natsServerBinary()))

// As production runs. Between the two, routes between servers became several connections each, and sync_interval came.
t.test('with a later one', { skip: skipWithout('nats-server-later', 'nats-server of a later suite') }, async (t) => {
  process.env.NATS_SERVER = 'nats-server-later'
  const binary = await natsServerBinary()
  t.notMatch(execFileSync(binary, ['--version'], { encoding: 'utf8' }), /v2\.9\./)
  await testCluster(t, binary)
})

interface Made {
  readonly config: { readonly num_replicas: number }
}

/** Three servers with the configuration of the cluster. */
async function testCluster(t: Test, binary: string): Promise<void> {
  const dir = temporaryFolder(t)
  const [ours, stranger] = [await makeCertificate(dir, 'ours'), await makeCertificate(dir, 'stranger')]
  const ports = await portsFor(4)
  const start = async (index: number, certificate = ours) => {
    const server = await startServer(index, { binary, dir, ports, certificate, authority: ours.certFile })
    t.teardown(() => server.kill())
    return server
  }
  const servers = [await start(0), await start(1), await start(2)]
  const login = { NATS_USER: 'payments', NATS_PASSWORD: password, NATS_CA_FILE: ours.certFile }
  const NATS_URL = servers.map(({ clientUrl }) => clientUrl).join(',')

  await t.test('find one another over TLS and become ready', async (t) => {
    for (const server of servers)
      t.ok(await eventually(async () => (await server.joined()) === 2 && (await server.ready()), soonMs), server.name)
  })

  await t.test('a client must trust the authority and speak TLS', async (t) => {
    const one = { ...login, NATS_URL: servers[0]?.clientUrl ?? '' }
    const connection = await connectNats(one, { name: 'payments', attemptsMax: 1 })
    t.equal(connection.info?.tls_required, true)
    await connection.close()
    await t.rejects(connectNats({ ...one, NATS_CA_FILE: stranger.certFile }, { name: 'payments', attemptsMax: 1 }))
    await t.rejects(connectNats({ ...one, NATS_PASSWORD: 'guessed' }, { name: 'payments', attemptsMax: 1 }))
  })

  await t.test('a server whose certificate is somebody else’s does not join', async (t) => {
    const fourth = await start(3, stranger)
    // It tried, and was refused; those who belong have each other only.
    await eventually(() => [fourth, ...servers].some(({ log }) => /TLS route handshake error/.test(log())), soonMs)
    for (const server of servers) t.equal(await server.joined(), 2)
    t.equal(await fourth.joined(), 0)
    await fourth.kill()
  })

  await t.test('who looks after NATS sees how it is, and neither reads a message nor changes the stream', async (t) => {
    const connectAs = async (user: string) => {
      const connection = await connectNats({ ...login, NATS_URL, NATS_USER: user }, { name: user })
      t.teardown(() => connection.close())
      return connection
    }
    const streams = await connectAs('streams')
    const stream = JSON.stringify(streamConfiguration({ replicas: 3, bytesMax: streamBytesMin }))
    await eventually(
      async () => (await streams.request(streamApi.create, stream)).json<Made>().config.num_replicas,
      soonMs,
    )
    const refused = async (user: NatsConnection, subject: string) =>
      t.rejects(user.request(subject, '{}', { timeout: 5_000 }), { message: /Permissions Violation/i }, subject)

    const ops = await connectAs('ops')
    // A cluster gathers what it replies with, and right after a stream was made that takes a while.
    const reads = (subject: string) =>
      eventually(async () => (await ops.request(subject, '', { timeout: 10_000 })).json<object>(), soonMs)
    t.match(await reads(streamApi.info), { config: { name: 'EVENTS' }, cluster: { replicas: [{}, {}] } })
    t.match(await reads('$JS.API.STREAM.LIST'), { total: 1 })
    t.match(await reads('$JS.API.CONSUMER.LIST.EVENTS'), { total: 0 })
    for (const subject of ['STREAM.MSG.GET', 'DIRECT.GET', 'STREAM.UPDATE', 'STREAM.PURGE', 'STREAM.DELETE'])
      await refused(ops, `$JS.API.${subject}.EVENTS`)
    await refused(ops, '$JS.API.CONSUMER.CREATE.EVENTS')
    await refused(ops, '$SYS.REQ.SERVER.PING.VARZ')

    const system = await connectAs('system')
    const seen = new Set<string>()
    const fromAll = { strategy: 'count' as const, maxMessages: servers.length, maxWait: soonMs }
    for await (const reply of await system.requestMany('$SYS.REQ.SERVER.PING.JSZ', '{}', fromAll))
      seen.add(reply.json<{ server: { name: string } }>().server.name)
    t.same([...seen].sort(), servers.map(({ name }) => name).sort())
    for (const subject of ['$SYS.REQ.SERVER.any.RELOAD', '$SYS.REQ.SERVER.any.KICK', streamApi.info, 'events.any'])
      await refused(system, subject)
  })

  await t.test(
    'a new password holds without a restart, the old one no longer, and others stay connected',
    async (t) => {
      const connectAs = (user: string, secret: string, url: string) => {
        const given = { ...login, NATS_URL: url, NATS_USER: user, NATS_PASSWORD: secret }
        return connectNats(given, { name: user, attemptsMax: 1 })
      }
      const one = servers[0]?.clientUrl ?? ''
      const team = await connectAs('console', password, one)
      t.teardown(() => team.close())
      const told: string[] = []
      void (async () => {
        for await (const { type } of team.status()) told.push(type)
      })()
      for (const user of ['wallet', 'system']) {
        for (const server of servers) server.change(`passwords/${user}.conf`, () => 'password: "renewed"')
        for (const { clientUrl } of servers) {
          const connection = await eventually(() => connectAs(user, 'renewed', clientUrl), soonMs)
          await connection.close()
          await t.rejects(connectAs(user, password, clientUrl), { message: /Authorization Violation/i })
        }
      }
      await team.flush()
      t.notOk(told.includes('disconnect'), 'the console has noticed nothing')
    },
  )

  await t.test('an event that was acknowledged is kept when a server is lost, and the next one is taken', async (t) => {
    const connection = await connectNats({ ...login, NATS_URL }, { name: 'payments' })
    t.teardown(() => connection.close())
    const streams = await connectNats({ ...login, NATS_URL, NATS_USER: 'streams' }, { name: 'streams' })
    t.teardown(() => streams.close())
    const ask = async (user: NatsConnection, subject: string, payload: string, id = '') => {
      const named = headers()
      if (id !== '') named.set('Nats-Msg-Id', id)
      const reply = await user.request(subject, payload, { timeout: 5_000, headers: named })
      const { error, ...answer } = JSON.parse(reply.string())
      if (error !== undefined) throw new Error(error.description)
      return answer
    }
    // Repeated under the same id until it is acknowledged, as the outbox does.
    const publish = (id: string) =>
      eventually(() => ask(connection, eventSubject('deposit.confirmed'), '{}', id), soonMs)
    const stream = streamConfiguration({ replicas: 3, bytesMax: streamBytesMin })
    const made = await eventually(() => ask(streams, streamApi.create, JSON.stringify(stream)), soonMs)
    t.equal(made.config.num_replicas, 3)
    t.equal((await publish('one')).seq, 1)

    const leader = servers.find(({ name }) => name === made.cluster.leader)
    await leader?.kill()
    t.equal((await publish('two')).seq, 2)
    const info = await eventually(() => ask(streams, streamApi.info, ''), soonMs)
    t.equal(info.state.messages, 2)
    t.not(info.cluster.leader, made.cluster.leader)
  })
}
