import { randomUUID } from 'node:crypto'
import type { Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, holdOpen, replyWith, startReceiver, TestTime } from '@backoffice/test-kit'
import t from 'tap'
import { endpointId } from '../../src/endpoints/endpoint.ts'
import { type MadeAttempt, Recorder } from '../../src/sending/recorder.ts'
import { webhooksBed } from '../bed.ts'

// The clock of this replica is two days ahead of PostgreSQL's, and so of what other replicas have written. Both stand still,
// so that no lease ends.
const now = new Date()
const clock = { now: () => new Date(now.getTime() + 2 * 24 * 3_600_000) }
const made = await webhooksBed(t, {}, { clock, time: new TestTime(now) })
const { bed, operator, emit, setUrl, endpoint, story, becomes, hold } = made
const { db, log } = bed.services.webhooks
const recorder = new Recorder({
  ...{ db, log, random: () => 0.5, concurrency: 200 },
  breaker: { concurrencyMax: 10, backoffBaseMs: 60_000 },
  disabling: { failingDays: 5, failuresMin: 20 },
})
const url = 'http://127.0.0.1:1/hook'
const pool = bed.sql('webhooks')

/** A delivery whose first attempt is under way for almost as long as a lease lasts. */
async function underWay(scope: Scope): Promise<MadeAttempt['lease']> {
  const owner = { endpointId: endpointId(scope), type: 'deposit.confirmed', url }
  const lease = { ...owner, deliveryId: newId('dlv'), leaseId: randomUUID(), number: 1 }
  await pool.query(
    `with made as (
       insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at, next_attempt_at)
       values ($1, $2, $3, 'deposit.confirmed', $4, '', 'pending', $7, $7, $7) returning *
     )
     insert into lease (endpoint_id, delivery_id, lease_id, number, url, leased_at, leased_until)
     select endpoint_id, id, $5, 1, $6, $7, $7 + interval '14 seconds' from made`,
    [lease.deliveryId, lease.endpointId, newId('evt'), scope.brandId, lease.leaseId, url, now],
  )
  return lease
}
const record = (lease: MadeAttempt['lease'], responseStatus: 200 | 500) =>
  recorder.record({
    lease,
    startedAt: new Date(),
    outcome: {
      responseStatus,
      responseHead: `this is ${responseStatus}`,
      durationMs: 5,
      error: responseStatus === 200 ? null : 'The receiver answered 500.',
    },
  })
/** Records, together, one attempt each with these answers. */
async function recordAll(scope: Scope, answers: readonly (200 | 500)[]): Promise<MadeAttempt['lease'][]> {
  const leases = await Promise.all(answers.map(() => underWay(scope)))
  await Promise.all(leases.map((lease, index) => record(lease, answers[index] as 200 | 500)))
  return leases
}

t.test('attempts that end together are recorded together, each as what it is', async (t) => {
  const { scope } = await operator(url)
  const [good, bad] = await recordAll(scope, [200, 500])
  t.match(await story(good?.deliveryId ?? ''), {
    ...{ state: 'delivered', lastResponseStatus: 200, lastError: null, nextAttemptAt: null },
    attemptLog: [{ number: 1, responseStatus: 200, responseHead: 'this is 200', error: null, url }],
  })
  t.match(await story(bad?.deliveryId ?? ''), {
    ...{ state: 'pending', lastResponseStatus: 500, lastError: /500/, nextAttemptAt: String },
    attemptLog: [{ number: 1, responseStatus: 500, error: /500/ }],
  })
})

t.test('the breaker learns from each of them, in the order in which they ended', async (t) => {
  const { scope } = await operator(url)
  await recordAll(scope, [500, 500, 500, 500, 200, 500])
  t.match((await endpoint(scope)).breaker, { state: 'closed', consecutiveFailures: 1 })
  const { scope: dead } = await operator(url)
  await recordAll(dead, [200, 500, 500, 500, 500, 500])
  t.match((await endpoint(dead)).breaker, { state: 'open', consecutiveFailures: 5 })
})

t.test('an attempt that cannot be written fails none of those that ended with it', async (t) => {
  const { scope } = await operator(url)
  const poison = await underWay(scope)
  const admin = bed.sql('admin')
  await admin.query(`
    create function webhooks.refuse_attempt() returns trigger language plpgsql as $$
    begin raise exception 'never' using errcode = '22023'; end $$;
    create trigger refuse_attempt before insert on webhooks.attempt for each row
      when (new.delivery_id = '${poison.deliveryId}') execute function webhooks.refuse_attempt()`)
  const refused = record(poison, 200)
  const others = recordAll(scope, [200, 200, 500])
  await t.rejects(refused, /never/)
  const states = await Promise.all((await others).map(async ({ deliveryId }) => (await story(deliveryId)).state))
  t.same(states, ['delivered', 'delivered', 'pending'])
  t.equal((await story(poison.deliveryId)).state, 'pending')
})

t.test('an endpoint or a delivery that somebody else holds locked delays no other attempt', async (t) => {
  const { scope: locked } = await operator(url)
  const { scope: other } = await operator(url)
  const [failing, waited] = [await underWay(locked), await underWay(other)]
  const holders = [
    await hold(t, 'select from endpoint where id = $1 for no key update', failing.endpointId),
    await hold(t, 'select from delivery where id = $1 for no key update', waited.deliveryId),
  ]
  let waiting = 2
  const late = [record(failing, 500), record(waited, 200)].map((recorded) => recorded.then(() => (waiting -= 1)))
  const others = await Promise.all([200, 500, 200].map(() => underWay(other)))
  await Promise.all(others.map((lease, index) => record(lease, index === 1 ? 500 : 200)))
  t.equal(waiting, 2)
  const { rows } = await pool.query(
    'select count(distinct xmin::text)::int as transactions from attempt where delivery_id = any($1)',
    [others.map(({ deliveryId }) => deliveryId)],
  )
  t.same(rows, [{ transactions: 1 }], 'nobody waited for a lock to time out, and then recorded alone')
  for (const letGo of holders) await letGo()
  await Promise.all(late)
  t.equal((await story(waited.deliveryId)).state, 'delivered')
  t.match((await endpoint(locked)).breaker, { consecutiveFailures: 1 })
})

t.test('an endpoint that is disabled with what waits for it delays no other attempt', async (t) => {
  const { scope: dying } = await operator(url)
  const { scope: other } = await operator(url)
  const [last, waiting, neighbour] = [await underWay(dying), await underWay(dying), await underWay(other)]
  await pool.query(
    "update endpoint set consecutive_failures = 19, failing_since = now() - interval '6 days' where id = $1",
    [last.endpointId],
  )
  const letGo = await hold(t, 'select from delivery where id = $1 for no key update', waiting.deliveryId)
  const audit = await holdOpen(bed.sql('admin'), 'lock table webhooks.audit_entry in exclusive mode')
  const disabling = record(last, 500).then(() => 'disabled')
  const first = await Promise.race([disabling, record(neighbour, 200).then(() => 'recorded')])
  t.equal(first, 'recorded', 'it did not wait for the backlog to be withheld')
  await audit.rollback()
  await disabling
  t.match(await endpoint(dying), { enabled: false, disabledReason: /20 attempts/, pending: 1 })
  await letGo()
  await becomes(waiting.deliveryId, 'withheld')
  const { rows } = await pool.query('select actor, operation, reason, input from audit_entry where subject = $1', [
    last.endpointId,
  ])
  t.match(rows, [{ actor: 'webhooks', operation: 'disableWebhook', reason: /20 attempts/, input: { withheld: 1 } }])
})

t.test('a late 2xx counts; a late failure is only logged', async (t) => {
  const { scope } = await operator(url)
  const [slow, slower] = [await underWay(scope), await underWay(scope)]
  const leaseId = randomUUID()
  await pool.query('update lease set lease_id = $1 where delivery_id = any($2)', [
    leaseId,
    [slow.deliveryId, slower.deliveryId],
  ])
  await Promise.all([record(slow, 500), record(slower, 200)])
  t.match(await story(slow.deliveryId), { state: 'pending', lastError: null, attemptLog: [{ responseStatus: 500 }] })
  const { rows } = await pool.query(
    'select lease_id, attempts_made from delivery join lease on delivery_id = id where id = $1',
    [slow.deliveryId],
  )
  t.same(rows, [{ lease_id: leaseId, attempts_made: 0 }], 'the new lease goes on')
  t.equal((await story(slower.deliveryId)).state, 'delivered')
})

t.test('two attempts of one delivery that end together are recorded one after another: the 2xx stays', async (t) => {
  const { scope } = await operator(url)
  const lost = await underWay(scope)
  const present = { ...lost, leaseId: randomUUID(), number: 2 }
  await pool.query('update lease set lease_id = $1 where delivery_id = $2', [present.leaseId, present.deliveryId])
  await Promise.all([record(present, 500), record(lost, 200)])
  t.match(await story(lost.deliveryId), {
    state: 'delivered',
    attemptLog: [
      { number: 1, responseStatus: 200 },
      { number: 2, responseStatus: 500 },
    ],
  })
})

t.test('a delivery that was purged meanwhile is left alone, and fails none of its neighbours', async (t) => {
  const { scope } = await operator(url)
  const gone = { ...(await underWay(scope)), deliveryId: newId('dlv') }
  const [, , [neighbour]] = await Promise.all([record(gone, 200), record(gone, 500), recordAll(scope, [200])])
  t.equal((await story(neighbour?.deliveryId ?? '')).state, 'delivered')
  await t.rejects(story(gone.deliveryId), { code: 'DELIVERY_NOT_FOUND' })
})

/** An operator with a delivery that another replica is sending, and a URL that was just set. */
async function sentElsewhere(leaseEnds: string) {
  const receiver = await startReceiver(t)
  const { scope } = await operator()
  const { id } = await emit(scope)
  await eventually(async () => (await pool.query('select from delivery where event_id = $1', [id])).rowCount === 1)
  await pool.query(
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
  const { id, scope, receiver } = await sentElsewhere('15 seconds')
  const next = await emit(scope)
  await becomes(next.id, 'delivered')
  t.match(await story(id), { state: 'pending', attempts: 0 })
  t.equal(receiver.received.length, 1)
})

t.test('a lease that ends later than it can, as after a clock was set back, is over', async (t) => {
  const { id, receiver } = await sentElsewhere('1 hour')
  await becomes(id, 'delivered')
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
  const [locked, other] = [await sentElsewhere('15 seconds'), await sentElsewhere('15 seconds')]
  const letGo = await hold(t, 'select from delivery where event_id = $1 for no key update', locked.id)
  await pool.query('update lease set leased_until = leased_at where url <> $1', [url])
  await becomes(other.id, 'delivered')
  t.equal(locked.receiver.received.length, 0)
  await letGo()
  await becomes(locked.id, 'delivered')
})

t.test('what is new is due at once, and a retry when PostgreSQL says so', async (t) => {
  const receiver = await startReceiver(t, replyWith(500))
  const { scope } = await operator(receiver.url)
  const { id } = await emit(scope)
  await eventually(async () => (await story(id)).lastError !== null)
  const { rows } = await pool.query('select next_attempt_at from delivery where event_id = $1', [id])
  const seconds = (rows[0].next_attempt_at.getTime() - now.getTime()) / 1_000
  t.ok(seconds > 0 && seconds < 3_600, `${seconds} s`)
  t.equal(receiver.received.length, 1)
})
