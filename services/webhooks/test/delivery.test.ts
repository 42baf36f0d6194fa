import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { webhooksBed } from './bed.ts'
import { startReceiver, verifies } from './receiver.ts'

const { bed, operator, emit, story } = await webhooksBed(t)

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

t.test('on an idle machine the median from publishing to arrival is far below 250 ms', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const latencies: number[] = []
  for (let n = 1; n <= 21; n++) {
    const startMs = performance.now()
    await emit(scope)
    await eventually(() => receiver.received.length === n)
    latencies.push((receiver.received.at(-1)?.atMs ?? 0) - startMs)
  }
  latencies.sort((a, b) => a - b)
  const medianMs = latencies[10] ?? 0
  t.comment(`median ${medianMs.toFixed(1)} ms, worst ${latencies.at(-1)?.toFixed(1)} ms`)
  t.ok(medianMs < 250, 'the median')
})

void bed
