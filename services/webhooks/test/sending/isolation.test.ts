import { operations, type Scope } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { endpointId } from '../../src/endpoints/endpoint.ts'
import { webhooksBed } from '../bed.ts'
import { acknowledge, type Received, startReceiver, status, verifies } from '../receiver.ts'

const never = () => {}
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const { bed, operator, emit, endpoint, story, hold } = await webhooksBed(t, { WEBHOOK_DEADLINE_MS: 1_000 })

const test = (scope: Scope) => bed.rpc.call(operations.webhooks.testWebhook, { scope, input: {} })

t.test('a test delivery is signed like any other and is in the list', async (t) => {
  const receiver = await startReceiver(t)
  const { scope, secret } = await operator(receiver.url)
  const result = await test(scope)
  t.match(result, { delivered: true, responseStatus: 204, error: null })
  const [delivery] = receiver.received as [Received]
  t.equal(delivery.id, result.eventId)
  t.ok(verifies(delivery, secret))
  t.match(JSON.parse(delivery.body), { id: result.eventId, type: 'webhook.test', brandId: scope.brandId })
  t.match(await story(result.eventId), { state: 'delivered', attempts: 1, attemptLog: [{ responseStatus: 204 }] })
})

t.test('a failure is told at once, and not tried again', async (t) => {
  const receiver = await startReceiver(t, status(500))
  const { scope } = await operator(receiver.url)
  const result = await test(scope)
  t.match(result, { delivered: false, responseStatus: 500, error: 'The receiver answered 500.' })
  t.match(await story(result.eventId), { state: 'failed', nextAttemptAt: null })
  t.equal(receiver.received.length, 1)
})

t.test('without a URL it is refused with WEBHOOK_NOT_CONFIGURED', async (t) => {
  const { scope } = await operator()
  await t.rejects(test(scope), { code: 'WEBHOOK_NOT_CONFIGURED' })
  await t.rejects(test(bed.scope({ operatorId: 'op_unknown' })), { code: 'WEBHOOK_NOT_CONFIGURED' })
})

t.test('a receiver that never answers is told after the deadline; five tests are under way at most', async (t) => {
  const receiver = await startReceiver(t, () => {})
  const { scope } = await operator(receiver.url)
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => test(scope)))
  const silent = { delivered: false, responseStatus: null, error: 'No answer within 1 s.' }
  const told = outcomes.filter(({ status }) => status === 'fulfilled')
  t.match(told, Array(5).fill({ value: silent }))
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  t.match(
    refused,
    Array(3).fill({ reason: { code: 'RATE_LIMITED' } }),
    'and nobody is told that the outcome is unknown',
  )
  t.equal(receiver.received.length, 5)
})

t.test('60 events to a receiver that never answers do not delay another operator', async (t) => {
  const blackHole = await startReceiver(t, never)
  const { scope: unlucky } = await operator(blackHole.url)
  const receiver = await startReceiver(t)
  const { scope: lucky } = await operator(receiver.url)
  const measure = async () => {
    const latencies: number[] = []
    for (let n = 0; n < 15; n++) {
      const before = receiver.received.length
      const startMs = performance.now()
      await emit(lucky)
      await eventually(() => receiver.received.length > before)
      latencies.push((receiver.received.at(-1)?.atMs ?? 0) - startMs)
    }
    return median(latencies)
  }
  const idleMs = await measure()
  for (let n = 0; n < 60; n++) await emit(unlucky)
  const besideMs = await measure()
  t.comment(`median ${idleMs.toFixed(1)} ms alone, ${besideMs.toFixed(1)} ms beside a black hole`)
  t.ok(besideMs < idleMs * 3 + 50)
  t.ok(blackHole.received.length <= 10, 'one endpoint has only so many under way')
  await eventually(async () => (await endpoint(unlucky)).breaker.state === 'open')
})

t.test('an endpoint that somebody holds locked delays no other, and is served once it is let go', async (t) => {
  const receiver = await startReceiver(t)
  const { scope: locked } = await operator(receiver.url)
  const { scope: other } = await operator(receiver.url)
  const letGo = await hold(t, 'select from endpoint where id = $1 for no key update', endpointId(locked))
  const waiting = await emit(locked)
  const startMs = performance.now()
  for (let n = 0; n < 5; n++) {
    const { id } = await emit(other)
    await eventually(async () => (await story(id)).state === 'delivered')
  }
  t.ok(performance.now() - startMs < 2_000, `five events, delivered and recorded`)
  t.match(await story(waiting.id), { state: 'pending', attempts: 0 })
  await letGo()
  await eventually(async () => (await story(waiting.id)).state === 'delivered')
})

t.test('an endpoint never has more under way than it may, over two replicas, and nothing is sent twice', async (t) => {
  await bed.start('webhooks')
  let underWay = 0
  let mostUnderWay = 0
  const receiver = await startReceiver(t, (response, delivery, request) => {
    underWay += 1
    mostUnderWay = Math.max(mostUnderWay, underWay)
    setTimeout(() => {
      underWay -= 1
      acknowledge(response, delivery, request)
    }, 5)
  })
  const { scope } = await operator(receiver.url)
  await Promise.all(Array.from({ length: 300 }, () => emit(scope)))
  await eventually(async () => receiver.received.length >= 300 && (await endpoint(scope)).pending === 0)
  t.equal(receiver.received.length, 300)
  t.equal(new Set(receiver.received.map(({ id }) => id)).size, 300)
  t.ok(mostUnderWay <= 10, `${mostUnderWay} under way at once`)
})

t.test('a new event does not wait behind a backlog', async (t) => {
  let slow = true
  const receiver = await startReceiver(t, (response, delivery, request) => {
    if (slow) setTimeout(() => acknowledge(response, delivery, request), 200)
    else acknowledge(response, delivery, request)
  })
  const { scope } = await operator(receiver.url)
  for (let n = 0; n < 300; n++) await emit(scope)
  const startMs = performance.now()
  const fresh = await emit(scope)
  const arrival = await eventually(() => receiver.received.find(({ id }) => id === fresh.id) ?? false)
  t.ok(receiver.received.length < 200, `only ${receiver.received.length} of the backlog went before it`)
  t.comment(`after ${(arrival.atMs - startMs).toFixed(0)} ms`)
  slow = false
  await eventually(() => receiver.received.length === 301)
})
