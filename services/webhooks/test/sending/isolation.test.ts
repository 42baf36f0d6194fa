import { operations, type Scope } from '@backoffice/contracts'
import {
  acknowledge,
  eventually,
  inLanes,
  type Received,
  refusal,
  replyWith,
  startReceiver,
  verifies,
} from '@backoffice/test-kit'
import t from 'tap'
import { endpointId } from '../../src/endpoints/endpoint.ts'
import { webhooksBed } from '../bed.ts'

const never = () => {}

/** Nothing here waits for the deadline but the last test, which sets another. */
const settings = { WEBHOOK_DEADLINE_MS: 15_000 }
const { bed, operator, emit, endpoint, story, hold } = await webhooksBed(t, settings)
const replicas = [bed.services.webhooks]

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
  const receiver = await startReceiver(t, replyWith(500))
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

t.test('five tests are under way at most', async (t) => {
  const receiver = await startReceiver(t, never)
  const { scope } = await operator(receiver.url)
  const codes: (string | null)[] = []
  const tests = Array.from({ length: 8 }, () => test(scope))
  const ended = tests.map(async (one) => void codes.push(await refusal(one)))
  await eventually(() => receiver.received.length === 5 && codes.length === 3)
  t.same(codes, Array(3).fill('RATE_LIMITED'))
  await receiver.close()
  await Promise.all(ended)
  t.same(codes.slice(3), Array(5).fill(null), 'nobody is told that the outcome is unknown')
  t.equal(receiver.received.length, 5)
})

t.test('60 events to a receiver that never answers do not delay another operator', async (t) => {
  const blackHole = await startReceiver(t, never)
  const { scope: unlucky } = await operator(blackHole.url)
  const receiver = await startReceiver(t)
  const { scope: lucky } = await operator(receiver.url)
  await inLanes(Array(60).fill(unlucky), emit)
  await eventually(() => blackHole.received.length >= 10)
  for (let n = 1; n <= 3; n++) {
    await emit(lucky)
    await eventually(() => receiver.received.length === n)
  }
  t.equal(blackHole.received.length, 10, 'one endpoint has only so many under way, and none of them has ended')
  await blackHole.close()
  await eventually(async () => (await endpoint(unlucky)).breaker.state === 'open')
})

t.test('an endpoint that somebody holds locked delays no other, and is served once it is let go', async (t) => {
  const receiver = await startReceiver(t)
  const { scope: locked } = await operator(receiver.url)
  const { scope: other } = await operator(receiver.url)
  const letGo = await hold(t, 'select from endpoint where id = $1 for no key update', endpointId(locked))
  const waiting = await emit(locked)
  for (let n = 0; n < 5; n++) {
    const { id } = await emit(other)
    await eventually(async () => (await story(id)).state === 'delivered')
  }
  t.match(await story(waiting.id), { state: 'pending', attempts: 0 })
  await letGo()
  await eventually(async () => (await story(waiting.id)).state === 'delivered')
})

t.test('an endpoint never has more under way than it may, over two replicas, and nothing is sent twice', async (t) => {
  replicas.push(await bed.start('webhooks'))
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
  await inLanes(Array(300).fill(scope), emit)
  await eventually(async () => receiver.received.length >= 300 && (await endpoint(scope)).pending === 0)
  t.equal(receiver.received.length, 300)
  t.equal(new Set(receiver.received.map(({ id }) => id)).size, 300)
  t.ok(mostUnderWay <= 10, `${mostUnderWay} under way at once`)
})

t.test('a new event does not wait behind a backlog', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const letGo = await hold(t, 'select from endpoint where id = $1 for no key update', endpointId(scope))
  await inLanes(Array(300).fill(scope), emit)
  await eventually(async () => (await endpoint(scope)).pending === 300)
  const fresh = await emit(scope)
  await eventually(async () => (await endpoint(scope)).pending === 301)
  await letGo()
  await eventually(() => receiver.received.length === 301)
  const place = receiver.received.findIndex(({ id }) => id === fresh.id)
  t.ok(place < 100, `only ${place} of the backlog went before it`)
})

t.test('that a receiver never answers is told after the deadline', async (t) => {
  const receiver = await startReceiver(t, never)
  const { scope } = await operator(receiver.url)
  settings.WEBHOOK_DEADLINE_MS = 100
  for (const replica of replicas) await replica.drain()
  await bed.start('webhooks')
  t.match(await test(scope), { delivered: false, responseStatus: null, error: /^No answer within/ })
})
