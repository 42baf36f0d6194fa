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
import pg from 'pg'
import t from 'tap'
import { webhooks } from '../../src/service.ts'
import { publish, webhooksBed } from '../bed.ts'

const { bed, operator, emit, story } = await webhooksBed(t)

t.test(
  'PostgreSQL goes away in the middle of an attempt and comes back: nothing is lost, nothing restarted',
  async (t) => {
    const database = new URL(bed.databaseUrl).pathname.slice(1)
    const elsewhere = new URL(bed.databaseUrl)
    elsewhere.pathname = '/postgres'
    const administrator = new pg.Client({ connectionString: elsewhere.href })
    await administrator.connect()
    t.teardown(() => administrator.end())
    const away = async () => {
      await administrator.query(`alter database ${database} allow_connections false`)
      await administrator.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
    }

    const ready = async () => (await fetch(`http://127.0.0.1:${bed.services.webhooks.healthPort}/readyz`)).status
    const held: (() => void)[] = []
    const receiver = await startReceiver(t, (response, delivery, request) => {
      held.push(() => acknowledge(response, delivery, request))
    })
    const { scope } = await operator(receiver.url)
    const event = await emit(scope)
    await eventually(() => held.length === 1)
    await away()
    for (const answer of held.splice(0)) answer()
    const during = await emit(scope)
    await eventually(async () => (await ready()) === 503)
    await administrator.query(`alter database ${database} allow_connections true`)

    await eventually(() => {
      for (const answer of held.splice(0)) answer()
      return receiver.received.some(({ id }) => id === during.id)
    })
    for (const { id } of [event, during]) await eventually(async () => (await story(id)).state === 'delivered')
    t.equal(
      receiver.received.filter(({ id }) => id === event.id).length,
      1,
      'the answer was recorded when that was possible again',
    )
  },
)

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
    const environment = {
      ...bed.environment('webhooks'),
      WEBHOOK_BACKOFF_BASE_MS: '200',
    }
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
  let listed = 0
  for (let after: string | null | undefined; after !== null; ) {
    const input = { operatorId, limit: 1_000, ...(after === undefined ? {} : { after }) }
    const { data, nextCursor } = await alice.call(listDeliveries, { input })
    listed += data.length
    after = nextCursor
  }
  t.equal(listed, deliveries)
  const { rows } = await bed
    .sql('webhooks')
    .query('select count(*)::int as n, count(*) filter (where error is not null)::int as interrupted from attempt')
  t.comment(`${rows[0]?.n} attempts logged, ${rows[0]?.interrupted} of unknown outcome`)
  t.equal(rows[0]?.n, deliveries + rows[0]?.interrupted)
  t.ok(twice >= 1 && twice <= rows[0]?.interrupted, 'only attempts of unknown outcome were made again')
})
