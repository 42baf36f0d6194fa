import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { assertServerVersion, connectNats } from '../../src/messages/connect.ts'
import { startOwnBroker } from '../own-broker.ts'
import { payments } from '../probe-services.ts'

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
