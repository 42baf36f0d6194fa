import { operations, type Scope } from '@backoffice/contracts'
import t from 'tap'
import { webhooksBed } from '../bed.ts'
import { type Received, startReceiver, status, verifies } from '../receiver.ts'

const { bed, operator, story } = await webhooksBed(t, { WEBHOOK_DEADLINE_MS: 2_000 })
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

t.test('a receiver that never answers is told after the deadline', async (t) => {
  const receiver = await startReceiver(t, () => {})
  const { scope } = await operator(receiver.url)
  t.match(await test(scope), { delivered: false, responseStatus: null, error: 'No answer within 2 s.' })
})

t.test('without a URL it is refused with WEBHOOK_NOT_CONFIGURED', async (t) => {
  const { scope } = await operator()
  await t.rejects(test(scope), { code: 'WEBHOOK_NOT_CONFIGURED' })
  await t.rejects(test(bed.scope({ operatorId: 'op_unknown' })), { code: 'WEBHOOK_NOT_CONFIGURED' })
})

t.test('an operator has five tests under way at most', async (t) => {
  const receiver = await startReceiver(t, () => {})
  const { scope } = await operator(receiver.url)
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => test(scope)))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 5)
  t.equal(receiver.received.length, 5)
})
