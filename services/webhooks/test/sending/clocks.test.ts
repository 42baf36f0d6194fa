import { eventually, replyWith, startReceiver, TestTime } from '@backoffice/test-kit'
import t from 'tap'
import { webhooksBed } from '../bed.ts'

// The clock of this replica is two days ahead of PostgreSQL's, and so of what other replicas have written. Both stand still.
const now = new Date()
const clock = { now: () => new Date(now.getTime() + 2 * 24 * 3_600_000) }
const { bed, operator, emit, setUrl, story, hold } = await webhooksBed(
  t,
  { WEBHOOK_BACKOFF_BASE_MS: 60_000 },
  { clock, time: new TestTime(now) },
)
const sql = bed.sql('webhooks')

/** An operator with a delivery that another replica is sending, and a URL that was just set. */
async function underWay(leaseEnds: string) {
  const receiver = await startReceiver(t)
  const { scope } = await operator()
  const { id } = await emit(scope)
  await eventually(async () => (await sql.query('select from delivery where event_id = $1', [id])).rowCount === 1)
  await sql.query(
    `with due as (
       update delivery set state = 'pending', next_attempt_at = $4, finished_at = null where event_id = $1 returning *
     )
     insert into lease (endpoint_id, delivery_id, lease_id, number, url, leased_at, leased_until)
     select endpoint_id, id, gen_random_uuid(), 1, $3, $4, $4 + $2::interval from due`,
    [id, leaseEnds, receiver.url, now],
  )
  await setUrl(scope, receiver.url)
  return { id, scope, receiver }
}

t.test('a delivery that another replica is sending is left to it, whatever the own clock says', async (t) => {
  const { id, scope, receiver } = await underWay('15 seconds')
  const next = await emit(scope)
  await eventually(async () => (await story(next.id)).state === 'delivered')
  t.match(await story(id), { state: 'pending', attempts: 0 })
  t.equal(receiver.received.length, 1)
})

t.test('a lease that ends later than it can, as after a clock was set back, is over', async (t) => {
  const { id, receiver } = await underWay('1 hour')
  await eventually(async () => (await story(id)).state === 'delivered')
  t.equal(receiver.received.length, 1)
  t.match(await story(id), {
    attempts: 2,
    attemptLog: [
      { number: 1, responseStatus: null, error: /stopped before the answer/ },
      { number: 2, responseStatus: 204, error: null },
    ],
  })
})

t.test('a lost lease whose delivery somebody else holds locked delays no other', async (t) => {
  const [locked, other] = [await underWay('15 seconds'), await underWay('15 seconds')]
  const letGo = await hold(t, 'select from delivery where event_id = $1 for no key update', locked.id)
  await sql.query('update lease set leased_until = leased_at')
  await eventually(async () => (await story(other.id)).state === 'delivered')
  t.equal(locked.receiver.received.length, 0)
  await letGo()
  await eventually(async () => (await story(locked.id)).state === 'delivered')
})

t.test('what is new is due at once, and a retry when PostgreSQL says so', async (t) => {
  const receiver = await startReceiver(t, replyWith(500))
  const { scope } = await operator(receiver.url)
  const { id } = await emit(scope)
  await eventually(async () => (await story(id)).lastError !== null)
  const { rows } = await sql.query('select next_attempt_at from delivery where event_id = $1', [id])
  const seconds = (rows[0].next_attempt_at.getTime() - now.getTime()) / 1_000
  t.ok(seconds > 0 && seconds < 3_600, `${seconds} s`)
  t.equal(receiver.received.length, 1)
})
