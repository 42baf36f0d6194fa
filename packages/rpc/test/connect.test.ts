import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrokerUser, brokerUsers } from '@backoffice/contracts'
import { freePort, startNats } from '@backoffice/local-stack'
import type { Logger } from '@backoffice/process'
import { eventually, makeCertificate } from '@backoffice/test-kit'
import t from 'tap'
import { assertServerVersion, connectNats } from '../src/connect.ts'

const dir = mkdtempSync(join(tmpdir(), 'backoffice-connect-'))
const port = await freePort()
const passwords = Object.fromEntries(brokerUsers.map((name) => [name, 'secret'])) as Record<BrokerUser, string>
const start = () => startNats({ dir, port, passwords })
let nats = await start()
t.teardown(async () => {
  await nats.child.stop()
  rmSync(dir, { recursive: true, force: true })
})
const login = { NATS_URL: nats.url, NATS_USER: 'payments', NATS_PASSWORD: 'secret' }

t.test('a server that is too old is refused', async (t) => {
  for (const version of ['2.9.0', '2.9.10', '2.10.1-beta', '3.0.0']) t.doesNotThrow(() => assertServerVersion(version))
  for (const version of ['2.8.4', '1.99.99', '0', '']) t.throws(() => assertServerVersion(version), /too old/, version)
})

t.test('a service hears replies to its own inbox only', async (t) => {
  const connection = await connectNats(login, { name: 'spy', attemptsMax: 1 })
  t.teardown(() => connection.close())
  const refused = new Promise((resolve) => {
    connection.subscribe('_INBOX_gateway.>', {
      callback(error) {
        if (error !== null) resolve(error)
      },
    })
  })
  t.match(String(await refused), /permissions violation/i)
})

t.test('after its clock has stepped back by an hour a service reconnects at once', async (t) => {
  const realNow = Date.now
  t.teardown(() => {
    Date.now = realNow
  })
  Date.now = () => realNow() + 3_600_000
  const connection = await connectNats(login, { name: 'stepped', attemptsMax: 1 })
  t.teardown(() => connection.close())
  let reconnected = false
  // It ends with the connection.
  void (async () => {
    for await (const { type } of connection.status()) if (type === 'reconnect') reconnected = true
  })()
  Date.now = realNow
  await nats.child.stop()
  nats = await start()
  t.ok(await eventually(() => reconnected))
})

t.test('a broker that cannot be reached is waited for, and the log says so now and then', async (t) => {
  // In front of the broker: it ends each connection at once until the broker may be reached.
  let attempts = 0
  let isOpen = false
  const front = createServer((socket) => {
    attempts += 1
    if (!isOpen) return socket.destroy()
    const behind = connect({ host: '127.0.0.1', port })
    socket.pipe(behind).pipe(socket)
    for (const end of [socket, behind]) end.on('error', () => {})
  }).listen(0, '127.0.0.1')
  t.teardown(() => front.close())
  await once(front, 'listening')
  let said = 0
  const connecting = connectNats(
    { ...login, NATS_URL: `nats://127.0.0.1:${(front.address() as AddressInfo).port}` },
    { name: 'patient', retryMs: 1, log: { warn: () => (said += 1) } as unknown as Logger },
  )
  let gaveUp: unknown
  connecting.catch((error) => {
    gaveUp = error
  })
  await eventually(() => attempts >= 200 || gaveUp !== undefined)
  t.equal(gaveUp, undefined)
  t.ok(said >= 1 && said < attempts, `said ${said} times`)
  isOpen = true
  const connection = await connecting
  t.notOk(connection.isClosed())
  await connection.close()
})

t.test('with NATS_CA_FILE the connection is TLS, and only to whom the authority vouches for', async (t) => {
  const [server, stranger] = [await makeCertificate(dir, 'server'), await makeCertificate(dir, 'stranger')]
  const tls = `\ntls { cert_file: "${server.certFile}", key_file: "${server.keyFile}" }\n`
  appendFileSync(join(dir, 'nats.conf'), tls)
  process.kill(nats.child.pid, 'SIGHUP')
  const connectTo = ({ certFile }: { readonly certFile: string }) =>
    connectNats({ ...login, NATS_CA_FILE: certFile }, { name: 'wallet', attemptsMax: 1 })
  const connection = await eventually(() => connectTo(server))
  t.teardown(() => connection.close())
  t.equal(connection.info?.tls_required, true)
  await connection.flush()
  await t.rejects(connectTo(stranger))
})
