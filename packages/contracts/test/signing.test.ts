import { createHash, createHmac } from 'node:crypto'
import t from 'tap'
import { canonicalString, signaturesEqual, signRequest, signWebhook } from '../src/index.ts'

const request = { method: 'POST', path: '/api/v1/players?x=1', timestamp: '1767225600', body: '{"a":1}' }

t.test('the canonical string is method, path as sent, timestamp and body digest, joined by LF', async (t) => {
  const digest = createHash('sha256').update('{"a":1}').digest('hex')
  t.equal(canonicalString(request), `POST\n/api/v1/players?x=1\n1767225600\n${digest}`)
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  t.equal(canonicalString({ ...request, method: 'get', body: '' }), `GET\n/api/v1/players?x=1\n1767225600\n${empty}`)
})

t.test('the signature is HMAC-SHA256 in lowercase hex', async (t) => {
  t.equal(signRequest('sk_1', request), createHmac('sha256', 'sk_1').update(canonicalString(request)).digest('hex'))
  t.equal(
    signWebhook('whsec_1', { timestamp: '1', body: '{}' }),
    createHmac('sha256', 'whsec_1').update('1.{}').digest('hex'),
  )
})

t.test('only the same lowercase hex is equal', async (t) => {
  const signature = signRequest('sk_1', request)
  t.ok(signaturesEqual(signature, signature))
  for (const other of [
    signature.toUpperCase(),
    signature.slice(1),
    `${signature}0`,
    '',
    'zz',
    signRequest('sk_2', request),
  ])
    t.notOk(signaturesEqual(signature, other))
})
