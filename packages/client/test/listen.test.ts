import { signWebhook } from '@backoffice/contracts/signing'
import t from 'tap'
import { judge, signedAnew } from '../src/listen/delivery.ts'
import { arrivalText } from '../src/listen/lines.ts'
import { settingsFrom } from '../src/listen/program.ts'
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
  t.same(settingsFrom({ port: '4242', body: true }), { port: 4242, forwardTo: undefined, showBody: true })
  for (const port of ['x', '65536', '-1', '']) t.throws(() => settingsFrom({ port, body: false }), /--port takes/)
  for (const target of ['localhost:3000', 'ftp://x', ''])
    t.throws(() => settingsFrom({ 'forward-to': target, body: false }), /--forward-to takes/)
})
