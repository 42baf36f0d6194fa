import { connect } from 'node:net'
import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { request } from 'undici'
import { gateway } from '../../src/service.ts'
import { type Pair, post, send, signedHeaders } from '../signed-client.ts'

const bed = await testBed(t, { gateway, players, wallet, payments, webhooks })
const { baseUrl } = bed.services.gateway.addresses
const operator = await bed.team('alice').call(operations.gateway.createOperator, { input: { name: 'Envelope' } })
const { sandbox, production } = operator

async function raw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

t.test(
  'an unknown route is 404 and a known one with another method 405 with Allow, before any authentication',
  async (t) => {
    const get = async (path: string, method: 'GET' | 'DELETE' | 'HEAD' | 'PUT' = 'GET') =>
      request(baseUrl + path, { method })
    const unknown = await get('/nope')
    t.equal(unknown.statusCode, 404)
    t.match(await unknown.body.json(), { error: { code: 'NOT_FOUND', requestId: unknown.headers['x-request-id'] } })
    const other = await get('/me', 'DELETE')
    t.equal(other.statusCode, 405)
    t.equal(other.headers.allow, 'GET')
    t.match(await other.body.json(), { error: { code: 'METHOD_NOT_ALLOWED' } })
    t.equal((await get('/players', 'PUT')).headers.allow, 'POST, GET')
    t.equal((await get('//me')).statusCode, 404)
    t.equal((await get('/%zz')).statusCode, 404)
    t.equal((await get(`/players/${'a'.repeat(3_000)}/wallet`)).statusCode, 404)
  },
)

t.test('a body over 64 KiB is 413 before the key is looked at', async (t) => {
  const answer = await send(
    baseUrl,
    { key: 'nobody', secret: 'x' },
    { method: 'POST', path: '/players', body: 'x'.repeat(64 * 1024 + 1) },
  )
  t.equal(answer.status, 413)
  t.equal(answer.json.error.code, 'PAYLOAD_TOO_LARGE')
})

t.test('bytes that are no HTTP request, and headers that are too large, get the envelope too', async (t) => {
  const broken = await raw('GET / HTTP/9.9\r\n\r\n')
  t.match(broken, /^HTTP\/1\.1 400 /)
  t.match(broken, '\r\nLink: </api/v1/docs#error-validation-error>; rel="help"\r\n')
  t.match(broken, /X-Request-Id: req_/)
  t.match(broken, /"code":"VALIDATION_ERROR"/)
  const large = await raw(`GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(20_000)}\r\n\r\n`)
  t.match(large, /^HTTP\/1\.1 431 /)
  t.match(large, /"code":"HEADERS_TOO_LARGE"/)
})

t.test('a request that is under way gets its own response, whatever bytes come after it', async (t) => {
  const headers = Object.entries(signedHeaders(sandbox, '/api/v1/me', {})).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const answer = await raw(`GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${headers.join('')}\r\n\u0000 no request`)
  t.match(answer, /^HTTP\/1\.1 200 /)
  t.equal(answer.match(/HTTP\/1\.1/g)?.length, 1, 'and the connection is closed after it')
})

t.test('an Expect header that nobody understands changes nothing', async (t) => {
  const answer = await raw('GET /api/v1/me HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n')
  t.match(answer, /^HTTP\/1\.1 401 /)
  t.match(answer, /"code":"INVALID_CREDENTIALS"/)
})

t.test('the media type is judged before the Idempotency-Key, the key before the body', async (t) => {
  const code = async (options: Omit<Parameters<typeof send>[2], 'path'>, pair: Pair = sandbox) =>
    (await send(baseUrl, pair, { method: 'POST', path: '/players', ...options })).json.error.code
  t.equal(await code({ body: '{', headers: { 'Content-Type': 'text/plain' } }), 'UNSUPPORTED_MEDIA_TYPE')
  t.equal(await code({ body: '{' }), 'IDEMPOTENCY_KEY_REQUIRED')
  t.equal(await code({ body: '{', headers: { 'Idempotency-Key': 'long-enough-1' } }), 'VALIDATION_ERROR')
  const malformed = await send(baseUrl, sandbox, {
    method: 'POST',
    path: '/players',
    body: '{}',
    headers: { 'Idempotency-Key': 'short' },
  })
  t.equal(malformed.status, 422)
  t.equal(malformed.json.error.details.in, 'headers')
})

t.test('a sandbox route is refused in production before its body is looked at', async (t) => {
  const answer = await send(baseUrl, production, {
    method: 'POST',
    path: '/sandbox/players/ply_x/kyc/decision',
    body: '{',
  })
  t.equal(`${answer.status} ${answer.json.error.code}`, '403 SANDBOX_ONLY')
})

t.test('every issue of a body is named, with where it is', async (t) => {
  const { status, json } = await post(baseUrl, sandbox, '/players', {
    externalId: '',
    name: 'A',
    email: 'x',
    cpf: '11111111111',
    extra: 1,
  })
  t.equal(status, 422)
  t.equal(json.error.details.in, 'body')
  t.strictSame(json.error.details.issues.map(({ path }: { path: string }) => path).sort(), [
    '/birthDate',
    '/cpf',
    '/email',
    '/externalId',
    '/extra',
    '/name',
  ])
})

t.test('a query is not coerced, repeated or guessed at', async (t) => {
  const details = async (path: string) => (await send(baseUrl, sandbox, { path })).json.error.details
  t.match(await details('/players'), { in: 'query', issues: [{ path: '/externalId', message: 'is required' }] })
  t.match(await details('/players?externalId=a&externalId=b'), { in: 'query', issues: [{ path: '/externalId' }] })
  t.match(await details('/players?externalId=%ff'), { in: 'query' })
  t.match(await details('/players?externalId=%00'), { in: 'query' })
  for (const limit of ['0', '201', '1.5', '1e2', '-1', '', 'x'])
    t.match(await details(`/players/ply_x/transactions?limit=${limit}`), { in: 'query' }, limit)
})

t.test('the public documents need no key, carry an ETag, and a repeated fetch costs nothing', async (t) => {
  for (const [path, type] of [
    ['/openapi.json', 'application/json'],
    ['/postman.json', 'application/json'],
    ['/signing-snippets.json', 'application/json'],
    ['/test-vectors.json', 'application/json'],
    ['/changelog', 'text/markdown'],
    ['/docs', 'text/html'],
  ] as const) {
    const first = await request(baseUrl + path)
    t.equal(first.statusCode, 200, path)
    t.match(first.headers['content-type'], type)
    t.ok(first.headers['x-request-id'])
    await first.body.dump()
    const again = await request(baseUrl + path, { headers: { 'If-None-Match': String(first.headers.etag) } })
    t.equal(again.statusCode, 304)
    await again.body.dump()
  }
})
