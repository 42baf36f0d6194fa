import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { Logger } from '@backoffice/process'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { assertServerVersion, connectNats } from '../../src/messages/connect.ts'
import { startOwnBroker } from '../own-broker.ts'
import { payments } from '../probe-services.ts'

t.setTimeout(120_000)

t.test('a server that is too old is refused', async (t) => {
  for (const version of ['2.9.0', '2.9.10', '2.10.1-beta', '3.0.0']) t.doesNotThrow(() => assertServerVersion(version))
  for (const version of ['2.8.4', '1.99.99', '0', '']) t.throws(() => assertServerVersion(version), /too old/, version)
})

t.test('a service hears replies to its own inbox only', async (t) => {
  const bed = await testBed(t, { payments })
  const environment = bed.environment('payments')
  const connection = await connectNats(
    { NATS_URL: bed.natsUrl, NATS_USER: 'payments', NATS_PASSWORD: environment.NATS_PASSWORD ?? '' },
    { name: 'spy', attemptsMax: 1 },
  )
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
  const { environment, stop, start } = await startOwnBroker(t)
  const realNow = Date.now
  t.teardown(() => {
    Date.now = realNow
  })
  Date.now = () => realNow() + 3_600_000
  const connection = await connectNats({ ...environment, NATS_USER: 'payments' }, { name: 'stepped', attemptsMax: 1 })
  t.teardown(() => connection.close())
  let reconnected = false
  // It ends with the connection.
  void (async () => {
    for await (const { type } of connection.status()) if (type === 'reconnect') reconnected = true
  })()
  Date.now = realNow
  await stop()
  await start()
  t.ok(await eventually(() => reconnected))
})

t.test('a broker that cannot be reached is waited for, and the log says so now and then', async (t) => {
  const { environment } = await startOwnBroker(t)
  // In front of the broker: it ends each connection at once until the broker may be reached.
  const port = Number(new URL(environment.NATS_URL).port)
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
    { ...environment, NATS_URL: `nats://127.0.0.1:${(front.address() as AddressInfo).port}`, NATS_USER: 'payments' },
    { name: 'patient', retryMs: 1, log: { warn: () => (said += 1) } as unknown as Logger },
  )
  let gaveUp: unknown
  connecting.catch((error) => {
    gaveUp = error
  })
  await eventually(() => attempts >= 200 || gaveUp !== undefined, 60_000)
  t.equal(gaveUp, undefined)
  t.ok(said >= 1 && said < attempts, `said ${said} times`)
  isOpen = true
  const connection = await connecting
  t.notOk(connection.isClosed())
  await connection.close()
})
