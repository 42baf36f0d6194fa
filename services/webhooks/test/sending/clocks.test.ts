import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { webhooksBed } from '../bed.ts'
import { startReceiver, status } from '../receiver.ts'

// The clock of this replica runs two days ahead of PostgreSQL's, and so of what other replicas have written.
const aheadMs = 2 * 24 * 3_600_000
const clock = { now: () => new Date(Date.now() + aheadMs) }
const { bed, operator, emit, setUrl, story } = await webhooksBed(t, { WEBHOOK_BACKOFF_BASE_MS: 60_000 }, { clock })
const sql = bed.sql('webhooks')

/** An operator with a delivery that another replica is sending, and a URL that was just set. */
async function underWay(leaseEnds: string) {
  const receiver = await startReceiver(t)
  const { scope } = await operator()
  const { id } = await emit(scope)
  await eventually(async () => (await sql.query('select from delivery where event_id = $1', [id])).rowCount === 1)
  await sql.query(
    `update delivery set state = 'pending', next_attempt_at = now(), finished_at = null, attempts_total = 1,
       lease_id = gen_random_uuid(), leased_at = now(), leased_until = now() + $2::interval, leased_url = $3
     where event_id = $1`,
    [id, leaseEnds, receiver.url],
  )
  await setUrl(scope, receiver.url)
  return { id, scope, receiver }
}

t.test('a delivery that another replica is sending is left to it, whatever the own clock says', async (t) => {
  const { id, scope, receiver } = await underWay('15 seconds')
  const next = await emit(scope)
  await eventually(async () => (await story(next.id)).state === 'delivered')
  t.match(await story(id), { state: 'pending', attempts: 1 })
  t.equal(receiver.received.length, 1)
})

t.test('a lease that ends later than it can, as after a clock was set back, is over', async (t) => {
  const { id, receiver } = await underWay('1 hour')
  await eventually(async () => (await story(id)).state === 'delivered')
  t.equal(receiver.received.length, 1)
})

t.test('what is new is due at once, and a retry when PostgreSQL says so', async (t) => {
  const receiver = await startReceiver(t, status(500))
  const { scope } = await operator(receiver.url)
  const { id } = await emit(scope)
  await eventually(async () => (await story(id)).lastError !== null)
  const { rows } = await sql.query(
    `select extract(epoch from next_attempt_at - now())::float8 as seconds from delivery where event_id = $1`,
    [id],
  )
  t.ok(rows[0].seconds > 0 && rows[0].seconds < 3_600, `${rows[0].seconds} s`)
  t.equal(receiver.received.length, 1)
})
