import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import {
  acknowledge,
  depositConfirmed,
  eventually,
  inLanes,
  startReceiver,
  testBed,
  verifies,
} from '@backoffice/test-kit'
import t from 'tap'
import { webhooks } from '../../src/service.ts'
import { publish } from '../bed.ts'

const { provisionWebhook, setWebhookUrl, showWebhook, listDeliveries } = operations.webhooks
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const deliveries = 300

t.test('SIGKILL in the middle of 300 deliveries: all arrive, and the lost attempts are logged as such', async (t) => {
  // The bed's own service only prepares the schema and the subjects: it ends before the processes below begin.
  const bed = await testBed(t, { webhooks })
  await bed.services.webhooks.drain()
  const processes: ChildProcess[] = []
  t.teardown(() => processes.map((child) => child.kill('SIGKILL')))
  const startProcess = () => {
    const environment = { ...bed.environment('webhooks'), WEBHOOK_BACKOFF_BASE_MS: '200' }
    const child = spawn(process.execPath, [main], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] })
    processes.push(child)
    return child
  }

  let first: ChildProcess | undefined
  const receiver = await startReceiver(t, (response, delivery, request) => {
    // In the middle, with answers on their way that nobody will hear.
    if (receiver.received.length === 100) first?.kill('SIGKILL')
    setTimeout(() => acknowledge(response, delivery, request), 20)
  })
  first = startProcess()
  const killed = once(first, 'exit')
  const scope = bed.scope()
  const { operatorId, environment } = scope
  const { webhookSecret } = await eventually(() =>
    bed.rpc.call(provisionWebhook, { scope, input: { operatorName: 'Acme' } }),
  )
  const alice = bed.team('alice')
  await alice.call(setWebhookUrl, { input: { operatorId, environment, url: receiver.url } })

  const connection = await bed.nats('payments')
  const events = Array.from({ length: deliveries }, () => depositConfirmed(scope))
  await inLanes(events, (event) => publish(connection, event))
  await killed
  t.ok(receiver.received.length < deliveries, `${receiver.received.length} had arrived`)
  // As when the leases of the killed one have ended: until then nobody else takes what it had.
  await bed.sql('webhooks').query('update lease set leased_until = leased_at')
  startProcess()

  const arrived = () => new Set(receiver.received.map(({ id }) => id))
  await eventually(() => arrived().size === deliveries)
  t.same(arrived(), new Set(events.map(({ id }) => id)))
  for (const delivery of receiver.received) if (!verifies(delivery, webhookSecret ?? '')) t.fail('a signature is wrong')

  await eventually(async () => (await alice.call(showWebhook, { input: { operatorId, environment } })).pending === 0)
  const twice = receiver.received.length - deliveries
  t.comment(`${twice} of ${deliveries} arrived twice`)
  const listed = await alice.call(listDeliveries, { input: { operatorId, limit: 1_000 } })
  t.equal(listed.data.length, deliveries)
  const { rows } = await bed
    .sql('webhooks')
    .query('select count(*)::int as n, count(*) filter (where error is not null)::int as interrupted from attempt')
  t.comment(`${rows[0]?.n} attempts logged, ${rows[0]?.interrupted} of unknown outcome`)
  t.equal(rows[0]?.n, deliveries + rows[0]?.interrupted)
  t.ok(twice >= 1 && twice <= rows[0]?.interrupted, 'only attempts of unknown outcome were made again')
})
