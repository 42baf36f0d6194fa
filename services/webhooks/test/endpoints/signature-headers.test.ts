import { createHmac } from 'node:crypto'
import Stripe from 'stripe'
import t from 'tap'
import { expiryAfterRotation, type SigningSecret, signatureHeaders } from '../../src/endpoints/endpoint.ts'

const now = new Date('2026-03-02T12:00:00.900Z')
const at = (hours: number) => new Date(now.getTime() + hours * 3_600_000)
const body = Buffer.from('{"id":"evt_1","object":"event","type":"deposit.confirmed"}')
const current: SigningSecret = { secret: 'whsec_new', createdAt: at(-1), expiresAt: null }
const former: SigningSecret = { secret: 'whsec_old', createdAt: at(-90), expiresAt: at(23) }
const hmac = (secret: string) => createHmac('sha256', secret).update(`1772452800.${body}`).digest('hex')

t.test('the signature is the HMAC over timestamp, dot and body, in lowercase hex', async (t) => {
  const headers = signatureHeaders({ eventId: 'evt_1', body, secrets: [current], now })
  t.match(headers, {
    'X-Webhook-Id': 'evt_1',
    'X-Webhook-Timestamp': '1772452800',
    'X-Webhook-Signature': hmac('whsec_new'),
  })
})

t.test('until the overlap ends X-Webhook-Signature keeps the old secret, and the extra header has both', async (t) => {
  const secrets = [current, former]
  const during = signatureHeaders({ eventId: 'evt_1', body, secrets, now })
  t.equal(during['X-Webhook-Signature'], hmac('whsec_old'))
  t.equal(during['X-Webhook-Signatures'], `t=1772452800,v1=${hmac('whsec_new')},v1=${hmac('whsec_old')}`)
  const after = signatureHeaders({ eventId: 'evt_1', body, secrets: [{ ...former, expiresAt: now }, current], now })
  t.equal(after['X-Webhook-Signature'], hmac('whsec_new'))
  t.equal(after['X-Webhook-Signatures'], `t=1772452800,v1=${hmac('whsec_new')}`)
})

t.test('a second rotation within the overlap prolongs nothing', async (t) => {
  const overlapMs = 24 * 3_600_000
  t.same(expiryAfterRotation(null, { now, overlapMs }), at(24))
  t.same(expiryAfterRotation(at(3), { now, overlapMs }), at(3))
  t.same(expiryAfterRotation(at(3), { now, overlapMs: 0 }), now)
})

t.test("the stripe package's constructEvent accepts our deliveries, with either secret of a rotation", async (t) => {
  const signedNow = signatureHeaders({
    eventId: 'evt_1',
    body,
    secrets: [current, { ...former, expiresAt: new Date(8.64e15) }],
    now: new Date(),
  })
  const { webhooks } = new Stripe('sk_test_unused')
  const built = `t=${signedNow['X-Webhook-Timestamp']},v1=${signedNow['X-Webhook-Signature']}`
  t.equal(webhooks.constructEvent(body, built, 'whsec_old').id, 'evt_1')
  const extra = signedNow['X-Webhook-Signatures'] ?? ''
  t.equal(webhooks.constructEvent(body, extra, 'whsec_old').id, 'evt_1')
  t.equal(webhooks.constructEvent(body, extra, 'whsec_new').id, 'evt_1')
  t.throws(() => webhooks.constructEvent(body, extra, 'whsec_other'))
  t.throws(() => webhooks.constructEvent(`${body} `, extra, 'whsec_new'))
})
