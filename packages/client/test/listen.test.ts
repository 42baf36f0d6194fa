import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { signWebhook } from '@backoffice/contracts/signing'
import { eventually, freePort, startReceiver } from '@backoffice/test-kit'
import t from 'tap'
import { arrivalText, judge, Listener, type Settings, signedAnew } from '../src/listen/listener.ts'
import { secretsInEnvironment, settingsFrom } from '../src/listen/program.ts'
import { eventToTrigger, trigger } from '../src/listen/trigger.ts'
import { verifyWebhook } from '../src/webhooks.ts'

const now = new Date('2026-03-02T12:00:00.000Z')
const event = { id: 'evt_1', type: 'webhook.test', createdAt: now.toISOString(), data: { message: 'João 🎲' } }

/** The event as the API sends it, signed so long ago. */
function delivery({ secret = 'whsec_a', ageSeconds = 0, type = event.type } = {}) {
  const body = Buffer.from(JSON.stringify({ ...event, type }))
  const timestamp = String(now.getTime() / 1000 - ageSeconds)
  const signature = signWebhook(secret, { timestamp, body })
  return {
    headers: { 'x-webhook-id': 'evt_1', 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature },
    body,
  }
}
const plain = (_style: string, text: string) => text
const print = (verdict: ReturnType<typeof judge>) =>
  arrivalText({ verdict, at: now, again: false, showBody: true }, plain)

t.test('a delivery that is not verified says what may be wrong', async (t) => {
  t.match(judge(delivery(), ['whsec_a'], now), { event })
  t.match(judge(delivery({ secret: 'whsec_b' }), ['whsec_a'], now), { refusal: /made with another secret/ })
  t.match(judge(delivery({ ageSeconds: 400 }), ['whsec_a'], now), { refusal: /400 seconds behind the clock/ })
  t.match(judge(delivery({ ageSeconds: -400 }), ['whsec_a'], now), { refusal: /400 seconds ahead of the clock/ })
  t.match(judge({ headers: {}, body: Buffer.alloc(0) }, ['whsec_a'], now), { refusal: /timestamp is missing/ })
})

t.test('what is sent again has the same id and bytes, and is accepted by either secret of a rotation', async (t) => {
  const first = delivery({ ageSeconds: 86_400 })
  const again = signedAnew(first, ['whsec_new', 'whsec_a'], now)
  t.equal(again.body, first.body)
  t.equal(again.headers['x-webhook-id'], 'evt_1')
  for (const secret of ['whsec_new', 'whsec_a'])
    t.equal(verifyWebhook({ secret, headers: again.headers, rawBody: again.body, now }).id, 'evt_1', secret)
  // As the API does it: the simple header stays with the former secret.
  const { 'x-webhook-signatures': _, ...simple } = again.headers
  t.equal(verifyWebhook({ secret: 'whsec_a', headers: simple, rawBody: again.body, now }).id, 'evt_1')
})

t.test('nothing that a terminal would obey is printed as it is', async (t) => {
  const text = print(judge(delivery({ type: 'x\u001b[2J\u202e\n' }), ['whsec_a'], now))
  for (const never of ['\u001b', '\u202e']) t.notOk(text.includes(never))
  t.match(text, '\\u001b[2J\\u202e\\u000a')
  t.match(text, 'João 🎲')
})

t.test('an option that is not well formed is named', async (t) => {
  t.match(settingsFrom({ port: '4242', body: true }), { port: 4242, forwardTo: undefined, showBody: true })
  t.same(settingsFrom({ body: true, events: 'webhook.test, deposit.confirmed' }).events, [
    'webhook.test',
    'deposit.confirmed',
  ])
  for (const events of ['', 'deposit.confirmd', 'webhook.test,'])
    t.throws(() => settingsFrom({ body: true, events }), /there is no event ".*", but kyc\.status_changed, /)
  for (const words of [['listen'], ['trigger'], ['trigger', 'deposit'], ['trigger', 'webhook.test', 'more']])
    t.throws(() => eventToTrigger(words), /trigger EVENT|there is no event/, words.join(' '))
  t.equal(eventToTrigger(['trigger', 'webhook.test']), 'webhook.test')
  t.equal(eventToTrigger([]), undefined)
  for (const port of ['x', '65536', '-1', '']) t.throws(() => settingsFrom({ port, body: false }), /--port takes/)
  for (const target of ['localhost:3000', 'ftp://x', '', 'http://name:password@localhost:3000'])
    t.throws(() => settingsFrom({ 'forward-to': target, body: false }), /--forward-to takes/)
})

t.test('secrets may come with spaces and line ends around them, as files and lists have them', async (t) => {
  process.env.WEBHOOK_SECRET = 'whsec_a, whsec_b\r\n,'
  t.teardown(() => delete process.env.WEBHOOK_SECRET)
  t.same(secretsInEnvironment(), ['whsec_a', 'whsec_b'])
})

/** A listener that forwards to `forwardTo`, and how a delivery of this moment is sent to it. */
async function listen(forwardTo: string | undefined, port = 0, passes: Partial<Settings> = {}) {
  const printed: string[] = []
  const listener = new Listener({
    ...{ secrets: ['whsec_a'], port, showBody: false, paint: plain, events: undefined, since: undefined },
    ...passes,
    forwardTo: forwardTo === undefined ? undefined : new URL(forwardTo),
    print: (text) => printed.push(text),
  })
  const url = new URL(await listener.start())
  const send = (more: Record<string, string> = {}) => {
    const { body, headers } = delivery({ ageSeconds: Math.round((now.getTime() - Date.now()) / 1000) })
    return fetch(url, { method: 'POST', headers: { ...headers, ...more }, body })
  }
  return { listener, url, send, printed }
}

t.test('an event that is not wanted is answered, and neither printed nor sent on', async (t) => {
  const passes: readonly [Partial<Settings>, boolean][] = [
    [{ events: ['deposit.confirmed'] }, false],
    [{ events: ['deposit.confirmed', 'webhook.test'] }, true],
    [{ since: now }, true],
    [{ since: new Date(now.getTime() + 1) }, false],
  ]
  for (const [settings, wanted] of passes) {
    // Nobody is there: what is sent on is answered 502.
    const { listener, send, printed } = await listen(`http://127.0.0.1:${await freePort()}`, 0, settings)
    t.equal((await send()).status, wanted ? 502 : 204, JSON.stringify(settings))
    t.equal(printed.length > 0, wanted)
    t.equal((await send({ 'X-Webhook-Signature': '0' })).status, 401, 'what is not verified is never passed over')
    t.match(printed.at(-1), 'not verified')
    await listener.close()
  }
})

t.test('an event that no call causes is sent as an example, signed, to a receiver of one’s own', async (t) => {
  const receiver = await startReceiver(t, (response) => response.writeHead(202).end())
  const client = () => t.fail('nobody is called') as never
  const forwardTo = new URL(receiver.url)
  for (const type of ['player.status_changed', 'player.limit_changed', 'play.day_closed'] as const) {
    const printed = await trigger({ type, client, secrets: () => ['whsec_a'], forwardTo })
    t.match(printed, new RegExp(`^an example of ${type}, evt_example_.*: the answer was 202\n$`))
    const [{ timestamp = '', signature = '', body = '' } = {}] = receiver.received.slice(-1)
    const headers = { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature }
    t.match(verifyWebhook({ secret: 'whsec_a', headers, rawBody: body }), { type })
  }
})

t.test('it ends at once, also when somebody holds a connection open and says nothing', async (t) => {
  const { listener, url, send } = await listen(undefined)
  const silent = connect(Number(url.port), url.hostname)
  t.teardown(() => silent.destroy())
  await once(silent, 'connect')
  t.equal((await send()).status, 204)
  const closed = once(silent, 'close')
  await listener.close()
  await closed
})

t.test('a delivery under way is answered before it ends', async (t) => {
  let answer: (() => unknown) | undefined
  const receiver = await startReceiver(t, (response) => {
    answer = () => response.writeHead(202).end('kept')
  })
  const { listener, send } = await listen(receiver.url)
  const reply = send()
  await eventually(() => answer !== undefined)
  const closed = listener.close()
  answer?.()
  t.match(await reply.then(async (response) => [response.status, await response.text()]), [202, 'kept'])
  await closed
})

t.test('what it forwards to itself goes round once', async (t) => {
  const port = await freePort()
  const { listener, send, printed } = await listen(`http://127.0.0.1:${port}/webhooks`, port)
  t.teardown(() => listener.close())
  const response = await send()
  t.equal(response.status, 508)
  t.match(printed.join(''), /→ 508: --forward-to leads back to this program/)
})

t.test('the headers of a delivery go on, and those of its connection do not', async (t) => {
  let headers: IncomingMessage['headers'] = {}
  const receiver = await startReceiver(t, (response, _delivery, request) => {
    headers = request.headers
    response.writeHead(204).end()
  })
  const { listener, send } = await listen(receiver.url)
  t.teardown(() => listener.close())
  t.equal((await send({ 'Tenant-Id': 'a', 'Hosted-By': 'b', TE: 'trailers', 'Proxy-Authorization': 'c' })).status, 204)
  t.match(headers, { 'tenant-id': 'a', 'hosted-by': 'b', 'x-webhook-id': 'evt_1' })
  t.notOk(headers['proxy-authorization'])
})
