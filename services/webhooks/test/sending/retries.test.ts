import { operations, webhookAttemptsMax } from '@backoffice/contracts'
import { acknowledge, eventually, replyWith, startReceiver, verifies } from '@backoffice/test-kit'
import t from 'tap'
import { webhooksBed } from '../bed.ts'

const { bed, operator, emit, story, endpoint } = await webhooksBed(t, { WEBHOOK_BACKOFF_BASE_MS: 2 })

t.test('an event arrives once, signed, with its id in the header and in the body', async (t) => {
  const receiver = await startReceiver(t)
  const { scope, secret } = await operator(receiver.url)
  const event = await emit(scope)
  await eventually(() => receiver.received.length === 1)
  const [delivery] = receiver.received
  if (delivery === undefined) return
  t.equal(delivery.id, event.id)
  t.same(JSON.parse(delivery.body), event)
  t.match(delivery.timestamp, /^\d{10}$/)
  t.ok(verifies(delivery, secret))
  const told = await eventually(async () => {
    const told = await story(event.id)
    return told.state === 'delivered' && told
  })
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
  const told = await eventually(async () => {
    const told = await story(event.id)
    return told.state === 'delivered' && told
  })
  t.equal(receiver.received.length, 4)
  t.same(new Set(receiver.received.map(({ id }) => id)), new Set([event.id]))
  t.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
  for (const delivery of receiver.received) t.ok(verifies(delivery, secret))
  t.match(told.attemptLog, [
    { number: 1, responseStatus: 500, responseHead: 'this is 500', error: 'The receiver answered 500.' },
    { number: 2, responseStatus: 302, error: 'The receiver answered 302.' },
    { number: 3, responseStatus: null, responseHead: null, error: /closed the connection/ },
    { number: 4, responseStatus: 204, error: null },
  ])
  t.match(told.outcome, /^Delivered on attempt 4, /)
})

t.test(
  'the eighth failure is the last, of a receiver that answered before and then resets each connection',
  async (t) => {
    let answers = true
    const receiver = await startReceiver(t, (response, delivery, request) => {
      if (answers) acknowledge(response, delivery, request)
      else request.socket.resetAndDestroy()
    })
    const { scope, secret } = await operator(receiver.url)
    const before = await emit(scope)
    await eventually(async () => (await story(before.id)).state === 'delivered')
    answers = false
    const event = await emit(scope)
    const told = await eventually(async () => {
      const told = await story(event.id)
      return told.state === 'failed' && told
    })
    const attempts = receiver.received.filter(({ id }) => id === event.id)
    t.equal(attempts.length, webhookAttemptsMax)
    t.equal(told.attemptLog.length, webhookAttemptsMax)
    t.match(told.outcome, /^Given up after 8 attempts/)
    for (const delivery of attempts) t.ok(verifies(delivery, secret))
    const stamps = attempts.map(({ timestamp }) => Number(timestamp))
    t.ok((stamps.at(-1) ?? 0) > (stamps[0] ?? 0), 'the signature of a later attempt has a later timestamp')
  },
)

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
    const arrived = () => new Set(receiver.received.map(({ id }) => id)).size
    await eventually(async () => arrived() === 40 && (await endpoint(scope)).pending === 0)
    const shown = await endpoint(scope)
    t.match(shown.breaker, { state: 'closed', consecutiveFailures: 0, concurrency: 10 })
    const stories = await Promise.all(sent.map(({ id }) => story(id)))
    t.ok(stories.every(({ state }) => state === 'delivered'))
  },
)

t.test('a large backlog is withheld page by page, and not in the transaction that disables', async (t) => {
  const { scope } = await operator('http://127.0.0.1:1/hook')
  const sql = bed.sql('webhooks')
  const { operatorId, brandId } = scope
  const waiting = 2_500
  await sql.query(
    `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at, next_attempt_at)
     select 'dlv_' || n, $1, 'evt_' || n, 'deposit.confirmed', $2, '', 'pending', now(), now(), now() + interval '1 hour'
     from generate_series(1, $3) n`,
    [`${operatorId}/sandbox`, brandId, waiting],
  )
  const input = { operatorId, environment: 'sandbox', reason: 'out of order' } as const
  await bed.team('alice').call(operations.webhooks.disableWebhook, { input })
  await eventually(async () => (await endpoint(scope)).pending === 0)
  const { rows } = await sql.query(
    `select count(*)::int as withheld from delivery where brand_id = $1 and state = 'withheld' group by xmin order by 1`,
    [brandId],
  )
  t.same(rows, [{ withheld: 500 }, { withheld: 1_000 }, { withheld: 1_000 }])
})
