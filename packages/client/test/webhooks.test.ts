import { testVectors } from '@backoffice/api-docs'
import { signWebhook } from '@backoffice/contracts'
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

t.test('headers are those of Fetch, of Node.js, or of any object', async (t) => {
  const verified = (given: Parameters<typeof verifyWebhook>[0]['headers']) =>
    verifyWebhook({ secret, headers: given, rawBody, now }).id
  t.equal(verified(new Headers(headers)), 'evt_1')
  t.equal(verified(new Request('https://example.com', { headers }).headers), 'evt_1')
  // As `request.headersDistinct` of Node.js has them.
  t.equal(verified({ 'x-webhook-timestamp': [timestamp], 'x-webhook-signature': [signature] }), 'evt_1')
  t.throws(() => verified(new Headers({ 'x-webhook-timestamp': timestamp })), /x-webhook-signature is missing/)
  const twice = { ...headers, 'x-webhook-signature': [signature, signature] }
  t.throws(() => verified(twice), /x-webhook-signature is missing/)
})

t.test('while a secret is changed, either of them is enough, and so is a verifier that knows both', async (t) => {
  const signedWith = (name: string) => signWebhook(name, { timestamp, body: rawBody })
  const rotated = { ...headers, 'x-webhook-signatures': `t=${timestamp},v1=${signedWith('whsec_new')},v1=${signature}` }
  for (const known of ['whsec_new', secret, [secret, 'whsec_new'], ['whsec_unknown', secret]])
    for (const written of [
      rotated,
      { ...rotated, 'x-webhook-signatures': rotated['x-webhook-signatures'].replaceAll(',', ' ,\t ') },
    ])
      t.equal(verifyWebhook({ secret: known, headers: written, rawBody, now }).id, 'evt_1', String(known))
  const unknown = { secret: ['whsec_unknown', 'whsec_other'], headers: rotated, rawBody, now }
  t.throws(() => verifyWebhook(unknown), WebhookVerificationError)
  // Behind something that passes on only the headers it knows.
  t.equal(verifyWebhook({ secret: ['whsec_new', secret], headers, rawBody, now }).id, 'evt_1')
  const forged = { ...headers, 'x-webhook-signatures': 'v1=,v1=0,t=,v2=x' }
  t.throws(() => verifyWebhook({ secret, headers: forged, rawBody, now }), WebhookVerificationError)
})

t.test('no secret and a parsed body are mistakes of the program, and said as such', async (t) => {
  // Whoever knows that the secret is empty could sign.
  const empty = { ...headers, 'x-webhook-signature': signWebhook('', { timestamp, body: rawBody }) }
  for (const none of ['', [], [''], [secret, '']])
    t.throws(() => verifyWebhook({ secret: none, headers: empty, rawBody, now }), /no webhook secret/)
  const parsed = JSON.parse(rawBody)
  t.throws(() => verifyWebhook({ secret, headers, rawBody: parsed, now }), /before the body is parsed/)
  const { buffer } = new Uint8Array(Buffer.from(rawBody))
  t.equal(verifyWebhook({ secret, headers, rawBody: buffer, now }).id, 'evt_1')
})

t.test('another secret, a changed byte and a missing header are refused', async (t) => {
  const refused = (change: Partial<Parameters<typeof verifyWebhook>[0]>) =>
    t.throws(() => verifyWebhook({ secret, headers, rawBody, now, ...change }), WebhookVerificationError)
  refused({ secret: 'whsec_other' })
  refused({ rawBody: `${rawBody} ` })
  refused({ headers: { ...headers, 'x-webhook-signature': signature.toUpperCase() } })
  refused({ headers: { 'x-webhook-signature': signature } })
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
