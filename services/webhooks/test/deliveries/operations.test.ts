import { defined, type Input, operations, webhookAttemptsMax } from '@backoffice/contracts'
import {
  acknowledge,
  allPages,
  depositConfirmed,
  eventually,
  refusal,
  replyWith,
  startReceiver,
  verifies,
} from '@backoffice/test-kit'
import t from 'tap'
import { webhooksBed } from '../bed.ts'

const made = await webhooksBed(t, { WEBHOOK_BACKOFF_BASE_MS: 2 })
const { bed, operator, emit, story, endpoint, becomes, leave, setAside } = made
const { listDeliveries, countDeliveries, showWebhook, disableWebhook } = operations.webhooks
const { resendDelivery, resendDeliveries, replayEvents } = operations.webhooks
const { listSetAside, showSetAside, rerunSetAside } = operations.webhooks
const alice = bed.team('alice')
const pool = bed.sql('webhooks')
/** Nothing listens there. */
const nobody = 'http://127.0.0.1:9/nobody'
const list = (filter: Partial<Input<typeof listDeliveries>>) =>
  alice.call(listDeliveries, { input: { limit: 10, ...filter } })

t.test('an event arrives once, signed, with its id in the header and in the body', async (t) => {
  const receiver = await startReceiver(t)
  const { scope, secret } = await operator(receiver.url)
  const event = await emit(scope)
  const told = await becomes(event.id, 'delivered')
  const [delivery, ...more] = receiver.received
  if (delivery === undefined) return t.fail('nothing has arrived')
  t.same(more, [])
  t.equal(delivery.id, event.id)
  t.same(JSON.parse(delivery.body), event)
  t.match(delivery.timestamp, /^\d{10}$/)
  t.ok(verifies(delivery, secret))
  t.match(told.outcome, /^Delivered on attempt 1, /)
  t.equal(told.attemptLog.length, 1)
  t.match(told.attemptLog[0], { number: 1, responseStatus: 204, error: null, url: receiver.url })
  t.equal(told.body, delivery.body)
})

t.test('500, 302 and a reset are retried with the same id and body and a fresh signature', async (t) => {
  let attempt = 0
  const receiver = await startReceiver(t, (response, delivery, request) => {
    attempt += 1
    if (attempt === 1) replyWith(500)(response, delivery, request)
    else if (attempt === 2) replyWith(302, { Location: 'http://127.0.0.1:1/' })(response, delivery, request)
    else if (attempt === 3) request.socket.resetAndDestroy()
    else acknowledge(response, delivery, request)
  })
  const { scope, secret } = await operator(receiver.url)
  const event = await emit(scope)
  const told = await becomes(event.id, 'delivered')
  t.equal(receiver.received.length, 4)
  t.equal(new Set(receiver.received.map(({ id, body }) => `${id} ${body}`)).size, 1)
  for (const delivery of receiver.received) t.ok(verifies(delivery, secret))
  t.match(told.attemptLog, [
    { number: 1, responseStatus: 500, responseHead: 'this is 500', error: 'The receiver answered 500.' },
    { number: 2, responseStatus: 302, error: 'The receiver answered 302.' },
    { number: 3, responseStatus: null, responseHead: null, error: /closed the connection/ },
    { number: 4, responseStatus: 204, error: null },
  ])
  t.match(told.outcome, /^Delivered on attempt 4, /)
})

t.test('the eighth failure is the last; a resend has the same id and body, and eight more', async (t) => {
  let answers = true
  const receiver = await startReceiver(t, (response, delivery, request) => {
    // It answered before, so each reset is that of a kept connection or of a new one.
    if (answers) acknowledge(response, delivery, request)
    else request.socket.resetAndDestroy()
  })
  const { scope, secret } = await operator(receiver.url)
  await becomes((await emit(scope)).id, 'delivered')
  answers = false
  const event = await emit(scope)
  const failed = await becomes(event.id, 'failed')
  t.equal(failed.attemptLog.length, webhookAttemptsMax)
  t.match(failed.outcome, /^Given up after 8 attempts/)
  answers = true
  const again = await alice.call(resendDelivery, { input: { id: failed.id, reason: 'they fixed it' } })
  t.match(again, { state: 'pending', attempts: webhookAttemptsMax })
  const told = await becomes(event.id, 'delivered')
  t.same(
    told.attemptLog.map(({ number }) => number),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  const attempts = receiver.received.filter(({ id }) => id === event.id)
  t.equal(attempts.length, told.attempts)
  t.equal(new Set(attempts.map(({ body }) => body)).size, 1)
  for (const delivery of attempts) t.ok(verifies(delivery, secret))
  const stamps = attempts.map(({ timestamp }) => Number(timestamp))
  t.ok((stamps.at(-1) ?? 0) > (stamps[0] ?? 0), 'the signature of a later attempt has a later timestamp')
})

t.test(
  'the breaker opens after five failures in a row; the backlog waits without using up attempts, then drains',
  async (t) => {
    let healthy = false
    const receiver = await startReceiver(t, (response, delivery, request) =>
      (healthy ? acknowledge : replyWith(503, { 'Retry-After': '1' }))(response, delivery, request),
    )
    const { scope } = await operator(receiver.url)
    const sent = []
    for (let n = 0; n < 40; n++) sent.push(await emit(scope))
    await eventually(async () => (await endpoint(scope)).breaker.consecutiveFailures >= 5)
    healthy = true
    for (const { id } of sent) await becomes(id, 'delivered')
    t.equal(new Set(receiver.received.map(({ id }) => id)).size, 40)
    const shown = await eventually(async () => {
      const shown = await endpoint(scope)
      return shown.pending === 0 && shown
    })
    t.match(shown.breaker, { state: 'closed', consecutiveFailures: 0, concurrency: 10 })
  },
)

t.test('deliveries are listed newest first, by pages: of one operator, or what was withheld of all', async (t) => {
  const operators = [await operator(), await operator()]
  const events: { id: string; operatorId: string }[] = []
  for (const { scope } of [...operators, ...operators]) {
    const { id } = await emit(scope)
    events.unshift({ id, operatorId: scope.operatorId })
    await becomes(id, 'withheld')
  }
  const read = async (filter: object) =>
    (await allPages((after) => list({ ...filter, limit: 1, ...defined({ after }) }))).map(({ eventId }) => eventId)
  const idsOf = (of: typeof events) => of.map(({ id }) => id)
  t.same(await read({ state: 'withheld' }), idsOf(events))
  const operatorId = operators[0]?.scope.operatorId ?? ''
  t.same(await read({ operatorId }), idsOf(events.filter((event) => event.operatorId === operatorId)))
  for (const none of [
    { operatorId, state: 'failed' },
    { state: 'withheld', environment: 'production' },
  ] as const)
    t.same(await list(none), { data: [], nextCursor: null })
})

t.test('a large backlog is withheld page by page, and not in the transaction that disables', async (t) => {
  const { scope } = await operator(nobody)
  await leave(scope, Array(2_500).fill({ state: 'pending' }))
  const { operatorId, environment, brandId } = scope
  await alice.call(disableWebhook, { input: { operatorId, environment, reason: 'out of order' } })
  await eventually(async () => (await endpoint(scope)).pending === 0)
  const { rows } = await pool.query(
    `select count(*)::int as withheld from delivery where brand_id = $1 and state = 'withheld' group by xmin order by 1`,
    [brandId],
  )
  t.same(rows, [{ withheld: 500 }, { withheld: 1_000 }, { withheld: 1_000 }])
})

/** So recent that nothing of then is purged. */
const leftAt = new Date(Date.now() - 7_200_000)
const afterLeft = (ms: number) => new Date(leftAt.getTime() + ms).toISOString()

t.test('a long period is sent again page by page, at one pace, and each delivery once', async (t) => {
  const { scope } = await operator(nobody)
  const { operatorId, environment } = scope
  const ids = await leave(scope, Array(5_003).fill({ state: 'delivered' }), leftAt)
  // So slowly that nothing is due again while the test lasts.
  const period = { since: afterLeft(0), until: afterLeft(6_000_000), states: ['delivered' as const] }
  const replay = (after?: string) =>
    alice.call(replayEvents, { input: { operatorId, environment, ...period, ratePerMinute: 6, ...defined({ after }) } })
  const first = await replay()
  t.match(first, { scheduled: 5_000, nextCursor: ids[4_999] })
  const second = await replay(first.nextCursor ?? '')
  t.match(second, { scheduled: 3, nextCursor: null })
  t.equal(Date.parse(second.firstAt ?? '') - Date.parse(first.lastAt ?? ''), 10_000)
  const { rows } = await pool.query(
    `select count(distinct next_attempt_at)::int as times from delivery
     where endpoint_id = $1 and (state = 'pending' or attempts_made > 0)`,
    [`${operatorId}/${environment}`],
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
  await setAside([before, ...wanted, another, broken])
  const { operatorId, environment } = scope
  const input = { operatorId, environment, since: '2026-03-01T10:00:00.000Z', until: '2026-03-01T11:00:00.000Z' }
  t.match(await alice.call(replayEvents, { input }), { scheduled: 2 })
  for (const body of wanted) await becomes(JSON.parse(body).id, 'delivered')
  t.same(receiver.received.map(({ body }) => body).toSorted(), wanted.toSorted())
  const text = 'select payload from set_aside_message where position($1 in payload) > 0 order by id'
  const { rows } = await pool.query(text, [operatorId])
  t.same(
    rows.map(({ payload }) => payload),
    [before, another, broken],
  )
  t.match(await alice.call(replayEvents, { input }), { scheduled: 0 })
})

t.test(
  'what has not arrived is found by operator, kind, day and answer, and counted as far as a page says',
  async (t) => {
    const [{ scope }, { scope: other }] = [await operator(nobody), await operator(nobody)]
    const { operatorId, environment } = scope
    const left = [
      { state: 'failed', status: 502, type: 'kyc.status_changed' },
      { state: 'pending' },
      { state: 'failed', status: 404 },
      { state: 'withheld', status: 500 },
      { state: 'pending', status: 503 },
    ] as const
    const ids = await leave(scope, left, leftAt)
    await leave(other, Array(101).fill({ state: 'failed', status: 502 }))
    const since = afterLeft(3_000)
    for (const [filter, found] of [
      [{ state: 'undelivered' }, [5, 3, 2, 1]],
      [{ answer: '5xx' }, [5, 1]],
      [{ answer: '4xx' }, [3]],
      [{ answer: '3xx' }, []],
      [{ answer: 'noAnswer' }, [2]],
      [{ answer: '5xx', state: 'withheld' }, [4]],
      [{ answer: '5xx', state: 'delivered' }, []],
      [{ state: 'undelivered', type: 'kyc.status_changed' }, [1]],
      [{ state: 'undelivered', since }, [5, 3]],
      [{ state: 'undelivered', until: since }, [2, 1]],
      [{ state: 'undelivered', after: ids[2] ?? '' }, [2, 1]],
    ] as const) {
      const { data } = await list({ operatorId, environment, ...filter })
      t.same(
        data.map(({ id }) => ids.indexOf(id) + 1),
        found,
        JSON.stringify(filter),
      )
    }
    const count = (filter: object) => alice.call(countDeliveries, { input: { environment, ...filter } })
    t.same(await count({ operatorId }), { pending: 2, failed: 2, withheld: 1 })
    t.same(await count({ operatorId, answer: '5xx', since }), { pending: 1, failed: 0, withheld: 1 })
    t.match(await count({}), { failed: 100 })
  },
)

t.test('several are sent again by one decision, those of another state or endpoint left as they are', async (t) => {
  const [{ scope }, { scope: other }] = [await operator(nobody), await operator(nobody)]
  const { operatorId, environment } = scope
  const [failed = '', delivered = ''] = await leave(scope, [
    { state: 'failed', status: 502 },
    { state: 'delivered', status: 204 },
  ])
  const [foreign = ''] = await leave(other, [{ state: 'failed', status: 502 }])
  const input = { operatorId, environment, ids: [failed, delivered, foreign], states: ['failed' as const] }
  t.equal(await refusal(bed.team('support').call(resendDeliveries, { input })), 'ROLE_REQUIRED')
  const resent = await alice.call(resendDeliveries, { input: { ...input, reason: 'they mended it' } })
  t.same(resent, { scheduled: 1, left: 2 })
  await eventually(async () => (await story(failed)).attempts > 0)
  t.match(await story(delivered), { state: 'delivered', attempts: 0 })
  t.match(await story(foreign), { state: 'failed', attempts: 0 })
  await alice.call(disableWebhook, { input: { operatorId, environment, reason: 'asked' } })
  t.equal(await refusal(alice.call(resendDeliveries, { input })), 'WEBHOOK_NOT_CONFIGURED')
})

t.test(
  'an endpoint that is left alone says why it failed last, and what waits for it until when it is held',
  async (t) => {
    const receiver = await startReceiver(t, replyWith(502))
    const { scope } = await operator(receiver.url)
    const { operatorId, environment } = scope
    const input = { operatorId, environment }
    t.equal((await endpoint(scope)).lastFault, null)
    const { id } = await becomes((await emit(scope)).id, 'failed')
    t.match((await endpoint(scope)).lastFault, { at: /Z$/, responseStatus: 502, error: /502/ })
    const [waiting = ''] = await leave(scope, [{ state: 'pending', status: 502 }])
    const until = '2999-01-01T00:00:00.000Z'
    await pool.query("update endpoint set breaker_state = 'open', open_until = $2 where id = $1", [
      `${operatorId}/${environment}`,
      until,
    ])
    t.equal((await story(waiting)).heldUntil, null, 'it is not due before')
    await pool.query("update delivery set next_attempt_at = '2026-03-01T00:00:00Z' where id = $1", [waiting])
    t.equal((await story(waiting)).heldUntil, until)
    t.equal((await story(id)).heldUntil, null, 'it does not wait')
    await alice.call(disableWebhook, { input: { ...input, reason: 'asked' } })
    await made.setUrl(scope, nobody)
    t.equal((await alice.call(showWebhook, { input })).lastFault, null, 'of the former address')
  },
)

t.test('what was set aside is listed, shown and handled again, each event once', async (t) => {
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
  await setAside([JSON.stringify(event), JSON.stringify(event), JSON.stringify(other), '{"no json'])
  const first = await alice.call(listSetAside, { input: { limit: 3 } })
  const listed = [{ eventId: event.id, fault: 'no room' }, {}, { eventId: other.id, operatorId: scope.operatorId }]
  t.match(first.data, listed)
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
  for (const one of [event, other]) await becomes(one.id, 'delivered')
  t.same(receiver.received.map(({ id }) => id).toSorted(), [event.id, other.id].toSorted())
})
