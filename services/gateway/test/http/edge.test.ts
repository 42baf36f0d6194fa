import { connect, type Socket } from 'node:net'
import { operations } from '@backoffice/contracts'
import { createLogger, patiently } from '@backoffice/process'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { Agent, request } from 'undici'
import { createServer } from '../../src/http/app.ts'
import { gateway } from '../../src/service.ts'
import { gatewayBed } from '../bed.ts'
import { exchange, post, send, signedHeaders } from '../signed-client.ts'

const connectionsMax = 20
const bed = await gatewayBed(t, { CONNECTIONS_MAX: connectionsMax })
const { baseUrl } = bed.services.gateway.addresses
const { sandbox } = await bed.team('alice').call(operations.gateway.createOperator, { input: { name: 'Edge' } })
const port = Number(new URL(baseUrl).port)

const signedLines = (path: string, body = '') =>
  Object.entries(signedHeaders(sandbox, path, { body })).map(([name, value]) => `${name}: ${value}`)

t.test('no reply but a document may be kept on its way, and no browser guesses what it is', async (t) => {
  const wallet = await send(baseUrl, sandbox, { path: '/players/ply_x/wallet' })
  const me = await send(baseUrl, sandbox, { path: '/me' })
  const refused = await send(baseUrl, { ...sandbox, secret: 'sk_wrong' }, { path: '/me' })
  const unknown = await send(baseUrl, sandbox, { path: '/nope' })
  for (const { status, headers } of [wallet, me, refused, unknown])
    t.match(headers, { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }, String(status))
  const { headers, body } = await request(`${baseUrl}/changelog`)
  await body.dump()
  t.match(headers, { 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' })
  const broken = await exchange(port, 'GET / HTTP/9.9\r\n\r\n')
  t.match(broken, /^HTTP\/1\.1 400 [\s\S]*"code":"VALIDATION_ERROR"/)
  t.match(broken, '\r\nLink: </api/v1/docs#error-validation-error>; rel="help"\r\n')
  t.match(broken, /\r\nCache-Control: no-store\r\n/)
  t.match(broken, /\r\nX-Content-Type-Options: nosniff\r\n/)
})

t.test('a GET with a body is refused, signed or not, and its connection ends', async (t) => {
  const head = ['GET /api/v1/me HTTP/1.1', 'Host: x', ...signedLines('/api/v1/me', '{}')]
  for (const framing of [
    ['Content-Length: 2', '', '{}'],
    ['Transfer-Encoding: chunked', '', '2', '{}', '0', '', ''],
  ]) {
    const answer = await exchange(port, [...head, ...framing])
    t.match(answer, /^HTTP\/1\.1 422 /)
    t.match(answer, /"code":"VALIDATION_ERROR".*"in":"body"/)
    t.equal(answer.match(/HTTP\/1\.1/g)?.length, 1, 'its body is not taken for a request')
  }
  const document = await exchange(port, [
    'GET /api/v1/openapi.json HTTP/1.1',
    'Host: x',
    'Connection: close',
    'Content-Length: 2',
    '',
    '{}',
  ])
  t.match(document, /^HTTP\/1\.1 422 /)
})

t.test('a GET that says that it has no body is fine', async (t) => {
  const head = ['GET /api/v1/me HTTP/1.1', 'Host: x', 'Connection: close', ...signedLines('/api/v1/me')]
  t.match(await exchange(port, [...head, 'Content-Length: 0', '', '']), /^HTTP\/1\.1 200 /)
})

t.test('two Host headers are refused with 400, before the route and the signature', async (t) => {
  for (const path of ['/api/v1/me', '/nope']) {
    const lines = ['Host: x', 'Connection: close', ...signedLines(path), 'HOST: y']
    const answer = await exchange(port, [`GET ${path} HTTP/1.1`, ...lines, '', ''])
    t.match(answer, /^HTTP\/1\.1 400 /)
    t.match(answer, /"code":"VALIDATION_ERROR".*"in":"headers"/)
    t.match(answer, /\r\nx-request-id: req_/i)
  }
})

t.test(
  'what another program could take for another request is refused with 400, before route and signature',
  async (t) => {
    const signed = ['Connection: close', ...signedLines('/api/v1/me')]
    const forged = ['Connection: close', ...signedLines('/api/v1/me#x')]
    for (const [first, ...lines] of [
      ['GET /api/v1/me#x HTTP/1.1', 'Host: x', ...forged],
      ['GET /api/v1/me HTTP/2.0', 'Host: x', ...signed],
      ['GET /api/v1/me HTTP/0.9', 'Host: x', ...signed],
      ['GET /api/v1/me HTTP/1.1', ...signed],
      ...['a@b', 'a b', 'a/b', 'a?b', 'a#b', 'a\\b', 'x:y', '[::1', '<x>', 'a,b c'].map((host) => [
        'GET /api/v1/me HTTP/1.1',
        `Host: ${host}`,
        ...signed,
      ]),
    ]) {
      const answer = await exchange(port, [first as string, ...lines, '', ''])
      t.match(answer, /^HTTP\/1\.1 400 /, `${first} ${lines[0]}`)
      t.match(answer, /"code":"VALIDATION_ERROR".*"in":"headers"/)
      t.match(answer, /\r\nx-request-id: req_/i)
    }
    for (const [first, ...lines] of [
      ['GET /api/v1/me HTTP/1.0', ...signed],
      ...['x', 'api.example.com:8443', '[::1]:80', '127.0.0.1', 'under_score.example', ''].map((host) => [
        'GET /api/v1/me HTTP/1.1',
        `Host: ${host}`,
        ...signed,
      ]),
    ])
      t.match(await exchange(port, [first as string, ...lines, '', '']), /^HTTP\/1\.1 200 /, `${first} ${lines[0]}`)
  },
)

t.test(
  'headers and requests that never end are cut off when the limits say, and not half a minute later',
  async (t) => {
    const log = createLogger('test', 'silent')
    const app = createServer({ log, headersTimeoutMs: 300, requestTimeoutMs: 600 })
    app.post('/', async () => 'never')
    await app.listen({ host: '127.0.0.1', port: 0 })
    t.teardown(() => app.close())
    const to = Number(new URL(app.listeningOrigin).port)
    const cutOff = Promise.all([
      exchange(to, 'GET / HTTP/1.1\r\nHost: x\r\nX-A: '),
      exchange(to, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'),
    ])
    // Node's own interval is 30 s.
    let answers: readonly string[] | undefined
    void cutOff.then((all) => {
      answers = all
    })
    const received = await eventually(() => answers ?? false)
    for (const answer of received) t.match(answer, /^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/)
  },
)

t.test('more connections than the limit are closed at once, and whoever is there is served', async (t) => {
  const open: Socket[] = []
  let closed = 0
  t.teardown(() => {
    for (const socket of open) socket.destroy()
  })
  for (let count = 0; count < connectionsMax + 10; count++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.on('close', () => {
      closed += 1
    })
    open.push(socket)
  }
  await eventually(() => closed >= 10)
  const survivor = open.find(({ destroyed }) => !destroyed)
  let answer = ''
  survivor?.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk
  })
  survivor?.write(['GET /api/v1/me HTTP/1.1', 'Host: x', ...signedLines('/api/v1/me'), '', ''].join('\r\n'))
  await eventually(() => answer.startsWith('HTTP/1.1 200 '))
  t.pass('a connection that was there before')
  for (const socket of open) socket.destroy()
  await eventually(async () => (await send(baseUrl, sandbox, { path: '/me' }).catch(() => null))?.status === 200)
  t.pass('and anybody, once there is room')
})

t.test(
  'an unknown route is 404 and a known one with another method 405 with Allow, before any authentication',
  async (t) => {
    const get = async (path: string, method: 'GET' | 'DELETE' | 'PUT' = 'GET') => {
      const { statusCode, headers, body } = await request(baseUrl + path, { method })
      return { statusCode, headers, json: await body.json() }
    }
    const unknown = await get('/nope')
    t.equal(unknown.statusCode, 404)
    t.match(unknown.json, { error: { code: 'NOT_FOUND', requestId: unknown.headers['x-request-id'] } })
    const other = await get('/me', 'DELETE')
    t.equal(other.statusCode, 405)
    t.equal(other.headers.allow, 'GET, HEAD')
    t.match(other.json, { error: { code: 'METHOD_NOT_ALLOWED' } })
    t.equal((await get('/players', 'PUT')).headers.allow, 'POST, GET, HEAD')
    t.equal((await get('//me')).statusCode, 404)
    t.equal((await get('/%zz')).statusCode, 404)
    t.equal((await get(`/players/${'a'.repeat(3_000)}/wallet`)).statusCode, 404)
  },
)

t.test('a request that is under way gets its own response, whatever bytes come after it', async (t) => {
  const headers = Object.entries(signedHeaders(sandbox, '/api/v1/me', {})).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const answer = await exchange(port, `GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${headers.join('')}\r\n\u0000 no request`)
  t.match(answer, /^HTTP\/1\.1 200 /)
  t.equal(answer.match(/HTTP\/1\.1/g)?.length, 1, 'and the connection is closed after it')
})

t.test('an Expect header that nobody understands changes nothing', async (t) => {
  const answer = await exchange(
    port,
    'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
  )
  t.match(answer, /^HTTP\/1\.1 401 /)
  t.match(answer, /"code":"INVALID_CREDENTIALS"/)
})

t.test('the media type is judged before the Idempotency-Key, the key before the body', async (t) => {
  const code = async (options: Omit<Parameters<typeof send>[2], 'path'>) =>
    (await send(baseUrl, sandbox, { method: 'POST', path: '/players', ...options })).json.error.code
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

t.test(
  'a gateway that is asked to end is not ready at once, serves on, and closes each connection behind its answer',
  async (t) => {
    const bed = await testBed(t, { gateway }, { config: { gateway: { DRAIN_DELAY_MS: patiently(1_000) } } })
    const { addresses, healthPort, drain } = bed.services.gateway
    const dispatcher = new Agent({ connections: 1 })
    t.teardown(() => dispatcher.close())
    const ask = async () => {
      const answer = await request(`${addresses.baseUrl}/me`, { dispatcher })
      t.match(await answer.body.json(), { error: { code: 'INVALID_CREDENTIALS' } })
      return answer.headers.connection
    }
    const readiness = async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status

    t.equal(await readiness(), 200)
    t.equal(await ask(), 'keep-alive')
    let drained = false
    void drain().then(() => {
      drained = true
    })
    t.equal(await readiness(), 503)
    t.equal(await ask(), 'close', 'on the connection that was there before')
    t.equal(await ask(), 'close', 'on a new one too')
    t.notOk(drained, 'all that while it took requests')
    await eventually(() => drained)
    await t.rejects(ask())
  },
)
