import { operations } from '@backoffice/contracts'
import { acknowledge, depositConfirmed, eventually, refusal, replyWith, startReceiver } from '@backoffice/test-kit'
import t from 'tap'
import { publish, webhooksBed } from '../bed.ts'

const { bed, operator, emit, story } = await webhooksBed(t, { WEBHOOK_BACKOFF_BASE_MS: 1 })
const { listDeliveries, countDeliveries, showDelivery, showWebhook } = operations.webhooks
const { resendDelivery, resendDeliveries, replayEvents } = operations.webhooks
const { listSetAside, showSetAside, rerunSetAside } = operations.webhooks
const alice = bed.team('alice')

t.test('an event that arrives twice from the stream is delivered once', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const event = depositConfirmed(scope)
  const connection = await bed.nats('payments')
  await publish(connection, event, 'first')
  await publish(connection, event, 'second')
  const last = await emit(scope)
  // Which of the two arrives first is not promised.
  await eventually(async () => (await story(event.id)).state === 'delivered')
  await eventually(async () => (await story(last.id)).state === 'delivered')
  t.same(receiver.received.map(({ id }) => id).toSorted(), [event.id, last.id].toSorted())
  const { data } = await alice.call(listDeliveries, { input: { operatorId: scope.operatorId, limit: 10 } })
  t.equal(data.length, 2)
})

t.test('a poison message is set aside and stops nobody', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const connection = await bed.nats('payments')
  connection.publish('events.deposit.confirmed', 'this is not JSON')
  await emit(scope)
  await eventually(() => receiver.received.length === 1)
  const { rows } = await eventually(async () => {
    const found = await bed.sql('webhooks').query('select id from set_aside_message')
    return found.rows.length === 1 && found
  })
  const shown = await bed.team('alice').call(operations.webhooks.showSetAside, { input: { id: String(rows[0].id) } })
  t.match(shown, { payload: 'this is not JSON', fault: /JSON/ })
})

t.test('a resend has the same id and body, all attempts before it, and a log that goes on', async (t) => {
  let healthy = false
  const receiver = await startReceiver(t, (response, delivery, request) =>
    (healthy ? acknowledge : replyWith(500))(response, delivery, request),
  )
  const { scope } = await operator(receiver.url)
  const event = await emit(scope)
  await eventually(async () => (await story(event.id)).state === 'failed')
  healthy = true
  const { id } = await story(event.id)
  t.match(await alice.call(resendDelivery, { input: { id, reason: 'they fixed it' } }), {
    state: 'pending',
    attempts: 8,
  })
  const told = await eventually(async () => {
    const told = await story(event.id)
    return told.state === 'delivered' && told
  })
  t.equal(told.attempts, 9)
  t.same(
    told.attemptLog.map(({ number }) => number),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  t.equal(new Set(receiver.received.map((delivery) => `${delivery.id} ${delivery.body}`)).size, 1)
})

t.test('a replay is paced, oldest first', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const events = []
  for (let n = 0; n < 5; n++) events.push(await emit(scope))
  await eventually(async () => {
    const { data } = await alice.call(listDeliveries, {
      input: { operatorId: scope.operatorId, state: 'delivered', limit: 10 },
    })
    return data.length === 5
  })
  const { operatorId, environment } = scope
  const since = new Date(Date.now() - 3_600_000).toISOString()
  const input = { operatorId, environment, since, states: ['delivered' as const], ratePerMinute: 600 }
  const startMs = performance.now()
  const replay = await alice.call(replayEvents, { input })
  t.equal(replay.scheduled, 5)
  t.equal(Date.parse(replay.lastAt ?? '') - Date.parse(replay.firstAt ?? ''), 400)
  await eventually(() => receiver.received.length === 10)
  const again = receiver.received.slice(5)
  t.same(new Set(again.map(({ id }) => id)), new Set(events.map(({ id }) => id)))
  t.ok((again[4]?.atMs ?? 0) - startMs >= 350, 'one every 100 ms')
})

/** So recent that nothing of then is purged. */
const leftAt = Date.now() - 7_200_000

t.test('a long period is sent again page by page, at one pace, and each delivery once', async (t) => {
  const { scope } = await operator('http://127.0.0.1:9/nobody')
  const { operatorId, environment } = scope
  const endpoint = `${operatorId}/${environment}`
  const pool = bed.sql('webhooks')
  await pool.query(
    `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at, finished_at)
     select 'dlv_' || $1 || lpad(n::text, 6, '0'), $1, 'evt_' || n, 'deposit.confirmed', 'brd_1', '', 'delivered', at, at, at
     from generate_series(1, 5003) n, lateral (select $2::timestamptz + n * interval '1 s' as at) s`,
    [endpoint, new Date(leftAt)],
  )
  const [since = '', until = ''] = [leftAt, leftAt + 6_000_000].map((at) => new Date(at).toISOString())
  // So slowly that nothing is due again while the test lasts.
  const input = { operatorId, environment, since, until, states: ['delivered' as const], ratePerMinute: 6 }
  const first = await alice.call(replayEvents, { input })
  t.match(first, { scheduled: 5_000, nextCursor: `dlv_${endpoint}005000` })
  const second = await alice.call(replayEvents, { input: { ...input, after: first.nextCursor ?? '' } })
  t.match(second, { scheduled: 3, nextCursor: null })
  t.equal(Date.parse(second.firstAt ?? '') - Date.parse(first.lastAt ?? ''), 10_000)
  const { rows } = await pool.query(
    `select count(distinct next_attempt_at)::int as times from delivery
     where endpoint_id = $1 and (state = 'pending' or attempts_made > 0)`,
    [endpoint],
  )
  t.ok(rows[0].times >= 5_002, 'but the one that is under way')
})

t.test('a replay brings back what was set aside in its time, once, and leaves what nobody can read', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const at = (createdAt: string) => JSON.stringify({ ...depositConfirmed(scope), createdAt })
  const before = at('2026-03-01T09:59:59.000Z')
  const wanted = [at('2026-03-01T10:00:00.000Z'), at('2026-03-01T10:30:00.000Z')]
  const another = JSON.stringify({ ...JSON.parse(at('2026-03-01T10:30:00.000Z')), environment: 'production' })
  const broken = `{"operatorId":"${scope.operatorId}"`
  const pool = bed.sql('webhooks')
  await pool.query(
    `insert into set_aside_message (consumer, subject, payload, fault, set_aside_at)
     select 'schedule-delivery', 'events.deposit.confirmed', payload, 'never', now() from unnest($1::text[]) as payload`,
    [[before, ...wanted, another, broken]],
  )
  const { operatorId, environment } = scope
  const input = { operatorId, environment, since: '2026-03-01T10:00:00.000Z', until: '2026-03-01T11:00:00.000Z' }
  t.match(await alice.call(replayEvents, { input }), { scheduled: 2 })
  await eventually(() => receiver.received.length === 2)
  t.same(receiver.received.map(({ body }) => body).toSorted(), wanted.toSorted())
  const left = await pool.query('select payload from set_aside_message where position($1 in payload) > 0 order by id', [
    operatorId,
  ])
  t.same(
    left.rows.map(({ payload }) => payload),
    [before, another, broken],
  )
  for (const body of wanted) await eventually(async () => (await story(JSON.parse(body).id)).state === 'delivered')
  t.match(await alice.call(replayEvents, { input }), { scheduled: 0 })
})

t.test('deliveries are listed newest first, by pages, and filtered', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const events: string[] = []
  for (let n = 0; n < 5; n++) {
    events.unshift((await emit(scope)).id)
    await eventually(() => receiver.received.length === n + 1)
  }
  const { operatorId } = scope
  const page = (after?: string) =>
    alice.call(listDeliveries, { input: { operatorId, limit: 2, ...(after === undefined ? {} : { after }) } })
  const first = await page()
  const second = await page(first.nextCursor ?? '')
  const third = await page(second.nextCursor ?? '')
  t.equal(third.nextCursor, null)
  t.same(
    [...first.data, ...second.data, ...third.data].map(({ eventId }) => eventId),
    events,
  )
  const none = await alice.call(listDeliveries, { input: { operatorId, state: 'failed', limit: 2 } })
  t.same(none, { data: [], nextCursor: null })
})

t.test('what was withheld is listed of all operators, newest first, by pages', async (t) => {
  const operators = [await operator(), await operator()]
  const events: string[] = []
  for (const { scope } of [...operators, ...operators]) {
    const { id } = await emit(scope)
    events.unshift(id)
    await eventually(async () => (await story(id)).state === 'withheld')
  }
  const found: string[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const input = { state: 'withheld' as const, limit: 1, ...(after === undefined ? {} : { after }) }
    const { data, nextCursor = null } = await alice.call(listDeliveries, { input })
    t.ok(data.every(({ state }) => state === 'withheld'))
    found.push(...data.map(({ eventId }) => eventId))
    after = nextCursor
  }
  t.same(found, events)
  for (const [state, environment] of [
    ['withheld', 'production'],
    ['failed', 'production'],
  ] as const)
    t.same(await alice.call(listDeliveries, { input: { state, environment, limit: 1 } }), {
      data: [],
      nextCursor: null,
    })
})

/** Deliveries of an endpoint as attempts have left them, each a second after the one before. */
async function leave(endpointId: string, deliveries: readonly (readonly [state: string, status: number | null])[]) {
  const { rows } = await bed.sql('webhooks').query(
    `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at,
       next_attempt_at, finished_at, last_response_status, last_error)
     select 'dlv_' || replace($1, '/', '_') || n, $1, 'evt_' || n, case n when 1 then 'kyc.status_changed' else 'deposit.confirmed' end, 'brd_1',
       '', state, at, at, case state when 'pending' then at + interval '1000 years' end,
       case state when 'pending' then null else at end, status, 'It did not take it.'
     from unnest($2::text[], $3::int[]) with ordinality d (state, status, n),
       lateral (select $4::timestamptz + n * interval '1 s' as at) s returning id`,
    [endpointId, deliveries.map(([state]) => state), deliveries.map(([, status]) => status), new Date(leftAt)],
  )
  return rows.map(({ id }) => String(id))
}

t.test(
  'what has not arrived is found by operator, kind, day and answer, and counted as far as a page says',
  async (t) => {
    const { scope } = await operator('http://127.0.0.1:9/nobody')
    const { scope: other } = await operator('http://127.0.0.1:9/nobody')
    const { operatorId, environment } = scope
    const left = [
      ['failed', 502],
      ['pending', null],
      ['failed', 404],
      ['withheld', 500],
      ['pending', 503],
    ] as const
    const ids = await leave(`${operatorId}/${environment}`, left)
    await leave(`${other.operatorId}/${environment}`, Array(101).fill(['failed', 502]))
    const found = async (filter: object) => {
      const { data } = await alice.call(listDeliveries, { input: { operatorId, environment, limit: 10, ...filter } })
      return data.map(({ id }) => ids.indexOf(id) + 1)
    }
    t.same(await found({ state: 'undelivered' }), [5, 3, 2, 1])
    t.same(await found({ answer: '5xx' }), [5, 1])
    t.same(await found({ answer: '4xx' }), [3])
    t.same(await found({ answer: '3xx' }), [])
    t.same(await found({ answer: 'noAnswer' }), [2])
    t.same(await found({ answer: '5xx', state: 'withheld' }), [4])
    t.same(await found({ answer: '5xx', state: 'delivered' }), [])
    t.same(await found({ state: 'undelivered', type: 'kyc.status_changed' }), [1])
    const since = new Date(leftAt + 3_000).toISOString()
    t.same(await found({ state: 'undelivered', since }), [5, 3])
    t.same(await found({ state: 'undelivered', until: since }), [2, 1])
    t.same(await found({ state: 'undelivered', after: ids[2] }), [2, 1], 'page by page')
    const count = (filter: object) => alice.call(countDeliveries, { input: { environment, ...filter } })
    t.same(await count({ operatorId }), { pending: 2, failed: 2, withheld: 1 })
    t.same(await count({ operatorId, answer: '5xx', since }), { pending: 1, failed: 0, withheld: 1 })
    t.match(await count({}), { failed: 100 })
  },
)

t.test('several are sent again by one decision, those of another state or endpoint left as they are', async (t) => {
  const { scope } = await operator('http://127.0.0.1:9/nobody')
  const { scope: other } = await operator('http://127.0.0.1:9/nobody')
  const { operatorId, environment } = scope
  const [failed = '', delivered = ''] = await leave(`${operatorId}/${environment}`, [
    ['failed', 502],
    ['delivered', 204],
  ])
  const [foreign = ''] = await leave(`${other.operatorId}/${environment}`, [['failed', 502]])
  const input = { operatorId, environment, ids: [failed, delivered, foreign], states: ['failed' as const] }
  const stale = { ...input, seen: { url: 'http://127.0.0.1:9/another' } }
  t.equal(await refusal(alice.call(resendDeliveries, { input: stale })), 'NOT_AS_SEEN')
  t.equal(await refusal(bed.team('support').call(resendDeliveries, { input })), 'ROLE_REQUIRED')
  t.same(await alice.call(resendDeliveries, { input: { ...input, reason: 'they mended it' } }), {
    scheduled: 1,
    left: 2,
  })
  t.match(await story(failed), { state: /pending|failed/, lastError: /./ })
  t.equal((await eventually(async () => (await story(failed)).attempts > 0)) && (await story(delivered)).attempts, 0)
  t.match(await story(foreign), { state: 'failed', attempts: 0 })
  const { rows } = await bed
    .sql('webhooks')
    .query(
      "select actor, reason, input->'ids' as ids from audit_entry where operation = 'resendDeliveries' and outcome = 'done'",
    )
  t.same(rows, [{ actor: 'alice', reason: 'they mended it', ids: input.ids }])
  await alice.call(operations.webhooks.disableWebhook, { input: { operatorId, environment, reason: 'asked' } })
  t.equal(await refusal(alice.call(resendDeliveries, { input })), 'WEBHOOK_NOT_CONFIGURED')
})

t.test(
  'an endpoint that is left alone says why it failed last, and what waits for it until when it is held',
  async (t) => {
    const receiver = await startReceiver(t, replyWith(502))
    const { scope } = await operator(receiver.url)
    const { operatorId, environment } = scope
    const input = { operatorId, environment }
    t.equal((await alice.call(showWebhook, { input })).lastFault, null)
    const { id } = await emit(scope)
    const { lastFault } = await eventually(async () => {
      const shown = await alice.call(showWebhook, { input })
      return shown.lastFault !== null && shown
    })
    t.match(lastFault, { at: /Z$/, responseStatus: 502, error: /502/ })
    await eventually(async () => (await story(id)).state === 'failed')
    const [waiting = ''] = await leave(`${operatorId}/${environment}`, [['pending', 502]])
    const pool = bed.sql('webhooks')
    const hold = (openUntil: string) =>
      pool.query("update endpoint set breaker_state = 'open', open_until = $2 where id = $1", [
        `${operatorId}/${environment}`,
        openUntil,
      ])
    await hold('2999-01-01T00:00:00Z')
    t.equal((await story(waiting)).heldUntil, null, 'it is not due before')
    await pool.query("update delivery set next_attempt_at = '2026-03-01T00:00:00Z' where id = $1", [waiting])
    t.equal((await story(waiting)).heldUntil, '2999-01-01T00:00:00.000Z')
    t.equal((await story(id)).heldUntil, null, 'it does not wait')
    await alice.call(operations.webhooks.disableWebhook, { input: { ...input, reason: 'asked' } })
    await bed.agreed(operations.webhooks.setWebhookUrl, { input: { ...input, url: 'http://127.0.0.1:9/nobody' } })
    t.equal((await alice.call(showWebhook, { input })).lastFault, null, 'of the former address')
  },
)

t.test('an unknown delivery is refused with DELIVERY_NOT_FOUND', async (t) => {
  await t.rejects(alice.call(showDelivery, { input: { id: 'dlv_unknown' } }), { code: 'DELIVERY_NOT_FOUND' })
  await t.rejects(alice.call(resendDelivery, { input: { id: 'dlv_unknown' } }), { code: 'DELIVERY_NOT_FOUND' })
})

t.test('what was set aside is listed, shown and handled again, each event once', async (t) => {
  const pool = bed.sql('webhooks')
  await pool.query('delete from set_aside_message')
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  // The reaction fails for this operator, as with a bad release.
  await bed.sql('admin').query(`
    create function public.refuse_delivery() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$;
    create trigger refuse before insert on webhooks.delivery
      for each row when (new.endpoint_id = '${scope.operatorId}/sandbox') execute function public.refuse_delivery();
  `)
  const [event, other] = [depositConfirmed(scope), depositConfirmed(scope)]
  const payloads = [JSON.stringify(event), JSON.stringify(event), JSON.stringify(other), '{"no json']
  await pool.query(
    `insert into set_aside_message (consumer, subject, payload, fault, set_aside_at)
     select 'schedule-delivery', 'events.deposit.confirmed', payload, 'no room', now() from unnest($1::text[]) as payload`,
    [payloads],
  )
  const first = await alice.call(listSetAside, { input: { limit: 3 } })
  t.match(first.data, [
    { eventId: event.id, fault: 'no room' },
    {},
    { eventId: other.id, operatorId: scope.operatorId },
  ])
  const rest = await alice.call(listSetAside, { input: { limit: 3, after: first.nextCursor ?? '' } })
  t.match(rest, { data: [{ eventId: null, operatorId: null }], nextCursor: null })
  const id = first.data[2]?.id ?? ''
  t.match(await alice.call(showSetAside, { input: { id } }), { payload: JSON.stringify(other), eventId: other.id })

  t.equal(await refusal(alice.call(rerunSetAside, { input: { reason: 'too soon' } })), 'INTERNAL_ERROR')
  t.equal((await alice.call(listSetAside, { input: { limit: 10 } })).data.length, 4, 'all are where they were')
  await bed.sql('admin').query('drop trigger refuse on webhooks.delivery')
  const input = { id, reason: 'mended' }
  t.same(await alice.call(rerunSetAside, { input }), { handled: 1, left: 0, remaining: 3 })
  t.equal(await refusal(alice.call(rerunSetAside, { input })), 'MESSAGE_NOT_FOUND')
  t.equal(await refusal(alice.call(showSetAside, { input: { id } })), 'MESSAGE_NOT_FOUND')
  t.same(await alice.call(rerunSetAside, { input: { reason: 'mended' } }), { handled: 2, left: 1, remaining: 1 })
  for (const one of [event, other]) await eventually(async () => (await story(one.id)).state === 'delivered')
  t.same(receiver.received.map(({ id }) => id).toSorted(), [event.id, other.id].toSorted())
  const { rows } = await pool.query(
    "select actor, reason from audit_entry where operation = 'rerunSetAside' and outcome = 'done'",
  )
  t.same(rows, Array(2).fill({ actor: 'alice', reason: 'mended' }))
})
