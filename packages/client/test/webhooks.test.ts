import { signWebhook } from '@backoffice/contracts'
import { testVectors } from '@backoffice/documents'
import t from 'tap'
import { verifyWebhook, WebhookVerificationError } from '../src/webhooks.ts'

const secret = 'whsec_example'
const now = new Date('2026-03-02T12:00:00.000Z')
const timestamp = String(now.getTime() / 1000)
const rawBody = JSON.stringify({ id: 'evt_1', type: 'webhook.test', data: { message: 'João 🎲' } })
const signature = signWebhook(secret, { timestamp, body: rawBody })
const headers = { 'X-Webhook-Timestamp': timestamp, 'x-webhook-signature': signature }

t.test('a genuine delivery answers its event, from bytes as from text', async (t) => {
  t.equal(verifyWebhook({ secret, headers, rawBody, now }).id, 'evt_1')
  t.equal(verifyWebhook({ secret, headers, rawBody: Buffer.from(rawBody), now }).id, 'evt_1')
})

t.test('another secret, a changed byte and a missing header are refused', async (t) => {
  const refused = (change: Partial<Parameters<typeof verifyWebhook>[0]>) =>
    t.throws(() => verifyWebhook({ secret, headers, rawBody, now, ...change }), WebhookVerificationError)
  refused({ secret: 'whsec_other' })
  refused({ rawBody: `${rawBody} ` })
  refused({ headers: { ...headers, 'x-webhook-signature': signature.toUpperCase() } })
  refused({ headers: { 'x-webhook-signature': signature } })
})

t.test('a delivery outside the tolerance is refused, and so is a timestamp that is no number', async (t) => {
  const late = new Date(now.getTime() + 301_000)
  t.throws(() => verifyWebhook({ secret, headers, rawBody, now: late }), /tolerance/)
  const odd = {
    'x-webhook-timestamp': 'soon',
    'x-webhook-signature': signWebhook(secret, { timestamp: 'soon', body: rawBody }),
  }
  t.throws(() => verifyWebhook({ secret, headers: odd, rawBody, now }), /tolerance/)
})

t.test('the signature of every published vector is accepted', async (t) => {
  for (const vector of testVectors().webhooks) {
    const vectorHeaders = { 'x-webhook-timestamp': vector.timestamp, 'x-webhook-signature': vector.signature }
    const vectorNow = new Date(Number(vector.timestamp) * 1000)
    const verify = () =>
      verifyWebhook({ secret: vector.secret, headers: vectorHeaders, rawBody: vector.body, now: vectorNow })
    // A body that is not JSON is refused only by the parser, after its signature was accepted.
    if (vector.body.startsWith('{')) t.doesNotThrow(verify, vector.name)
    else t.not(errorName(verify), 'WebhookVerificationError', vector.name)
  }
})

t.test('the age of every published vector is judged as published', async (t) => {
  for (const { name, secret, timestamp, body, signature, ...age } of testVectors().webhookAges) {
    const headers = { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature }
    const { toleranceSeconds, receivedAt, accepted } = age
    const verify = () =>
      verifyWebhook({ secret, headers, rawBody: body, toleranceSeconds, now: new Date(receivedAt * 1_000) })
    if (accepted) t.doesNotThrow(verify, name)
    else t.throws(verify, /tolerance/, name)
  }
})

function errorName(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return (error as Error).name
  }
}
