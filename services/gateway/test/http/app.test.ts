import { randomUUID } from 'node:crypto'
import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { apiPrefix, type ErrorCode, type Operation, operations, Rejection } from '@backoffice/contracts'
import { AddressRanges, createLogger, HttpListener, systemClock } from '@backoffice/process'
import { eventually, inLanes } from '@backoffice/test-kit'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { buildApp, createServer } from '../../src/http/app.ts'
import { identifying } from '../../src/http/authenticate.ts'
import { documentRoutes } from '../../src/http/documents.ts'
import type { ClaimOutcome } from '../../src/http/idempotency.ts'
import { type HttpReply, RetryLater } from '../../src/http/reply.ts'
import { parseStrictJson, StrictJsonError } from '../../src/http/routes.ts'
import { FailedAuthentications, SecurityLog } from '../../src/http/security-log.ts'
import { operatorSurface } from '../../src/http/surface.ts'
import { operatorKeys } from '../../src/keys.ts'
import { exchange, signedHeaders } from '../signed-client.ts'

const pair = { key: 'bk_test_1', secret: 'sk_1' }
const nobody = new AddressRanges([])
const credential = {
  credentialId: 'crd_1',
  key: pair.key,
  secret: pair.secret,
  revoked: false,
  suspended: false,
  operatorName: 'Acme',
  brandName: 'Acme sandbox',
  rateLimitPerMinute: 10,
  replayProtection: false,
  permittedAddresses: nobody,
  holder: { operatorId: 'op_1', environment: 'sandbox' },
  tenant: { operatorId: 'op_1', environment: 'sandbox' },
  quotas: { bytes: 1, rows: 1 },
  usedToday: { day: '2026-03-02', bytes: 0, rows: 0 },
  scope: {
    operatorId: 'op_1',
    brandId: 'brd_1',
    environment: 'sandbox',
    currency: 'BRL',
    timeZone: 'America/Sao_Paulo',
  },
} as const

/** The app without a database and without services, which answer what they are told to. */
function appOf(
  t: Test,
  answers: { rpc?: () => unknown; claim?: () => ClaimOutcome; stored?: (reply: HttpReply) => HttpReply },
) {
  const events: string[] = []
  const log = createLogger('test', 'silent')
  const baseUrl = () => `https://api.example.com${apiPrefix}`
  const securityLog = new SecurityLog(log, operatorKeys)
  const authentication = {
    baseUrl,
    keys: operatorKeys,
    clock: systemClock,
    directory: { find: async (key: string) => (key === pair.key ? credential : null) },
    rateLimiter: { admit: async () => null },
    failures: new FailedAuthentications(5),
    uses: { used: () => {} },
    securityLog,
  }
  const app = buildApp({
    log,
    tls: false,
    isTrusted: () => false,
    surface: operatorSurface,
    documents: documentRoutes(baseUrl),
    identify: identifying(authentication),
    securityLog,
    rpc: {
      async request(operation, { operationId }) {
        events.push(`call ${operation.id} ${operationId ?? ''}`.trim())
        return Buffer.from(String(answers.rpc?.() ?? '{}'))
      },
    },
    observers: [],
    unread: () => {},
    dailyUse: { refusalOf: () => null, begun: () => {}, ended: () => {} },
    idempotency: {
      hasBegun: async () => false,
      async claim() {
        const claim = {
          operatorId: 'op_1',
          environment: 'sandbox',
          key: 'key',
          token: 'token',
          fingerprint: Buffer.alloc(32),
          operation: 'createDeposit',
          operationId: 'opn_1',
          until: new Date(),
        } as const
        return answers.claim?.() ?? { is: 'held', claim }
      },
      async useOnce() {
        events.push('use')
      },
      async storeReply(_claim, reply) {
        events.push(`store ${reply.status} ${reply.body}`)
        return answers.stored?.(reply) ?? reply
      },
      async releaseClaim() {
        events.push('release')
      },
    },
  })
  t.teardown(() => app.close())
  const send = (method: 'GET' | 'HEAD' | 'POST', path: string, body = '') => {
    const url = apiPrefix + path
    const headers = signedHeaders(pair, url, { method, body, headers: { 'Idempotency-Key': randomUUID() } })
    return app.inject({ method, url, headers, ...(body === '' ? {} : { payload: body }) })
  }
  return { app, events, send }
}

const refusing = (code: ErrorCode) => () => {
  throw Rejection.from({ code, details: { why: 'test' } })
}

t.test('a reply is the bytes that the service wrote, and so is what is stored', async (t) => {
  const written = '{"id" : "dep_1",\n "amount":"1.00", "é":"\\u00e9"}'
  const { send, events } = appOf(t, { rpc: () => written })
  const read = await send('GET', '/players/ply_1/wallet')
  t.equal(read.statusCode, 200)
  t.equal(read.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(read.body, written)
  const confirmed = await send('POST', '/deposits/dep_1/confirm')
  t.equal(confirmed.body, written)
  t.same(events, ['call getWallet', 'call confirmDeposit opn_1', `store 200 ${written}`])
})

t.test('a body is JSON as it stands, or refused before its key is touched', async (t) => {
  const body = '{}'
  const { app, events } = appOf(t, {})
  const sent = async (headers: Record<string, string>) => {
    const url = `${apiPrefix}/deposits/dep_1/confirm`
    const given = { 'Idempotency-Key': randomUUID(), 'Content-Type': 'application/json', ...headers }
    const signed = signedHeaders(pair, url, { method: 'POST', body, headers: given })
    const { statusCode } = await app.inject({ method: 'POST', url, headers: { ...signed, ...given }, payload: body })
    return { statusCode, events: events.splice(0) }
  }
  const json = 'application/json'
  const harmless = [
    '',
    ';',
    '; charset=utf-8',
    '; charset=utf-8;',
    ';charset="UTF-8"',
    '; charset=utf8',
    '; v=1',
    '; x',
    ' ;;',
  ]
  for (const type of [...harmless.map((parameters) => json + parameters), 'APPLICATION/JSON'])
    t.equal((await sent({ 'Content-Type': type })).statusCode, 200, type)
  t.equal((await sent({ 'Content-Encoding': 'identity' })).statusCode, 200)
  for (const headers of [
    ...[
      'text/plain',
      'application/jsonl',
      `${json}, ${json}`,
      `${json}; charset=utf-16`,
      'application/x+json',
      'x',
      '',
    ].map((type) => ({ 'Content-Type': type })),
    ...['gzip', 'br', 'zstd', 'identity, gzip', 'x'].map((encoding) => ({ 'Content-Encoding': encoding })),
    ...['gzip, chunked', 'identity'].map((coding) => ({ 'Transfer-Encoding': coding })),
  ])
    t.same(await sent(headers), { statusCode: 415, events: [] }, JSON.stringify(headers))
})

t.test('HEAD answers where GET does, with its headers and without a body, and is signed as HEAD', async (t) => {
  const { app, send } = appOf(t, { rpc: () => '{"available":"1.00"}' })
  for (const path of ['/me', '/players/ply_1/wallet']) {
    const url = apiPrefix + path
    const [got, asked] = [await send('GET', path), await send('HEAD', path)]
    t.equal(asked.statusCode, 200)
    t.equal(asked.body, '')
    for (const name of ['content-type', 'content-length', 'cache-control'])
      t.equal(asked.headers[name], got.headers[name], name)
    const signedAsGet = await app.inject({ method: 'HEAD', url, headers: signedHeaders(pair, url, {}) })
    t.equal(signedAsGet.statusCode, 401)
    t.equal(signedAsGet.body, '')
  }
  t.equal((await app.inject({ method: 'HEAD', url: `${apiPrefix}/test-vectors.json` })).statusCode, 200)
  t.equal((await app.inject({ method: 'HEAD', url: `${apiPrefix}/deposits/dep_1/confirm` })).statusCode, 405)
})

t.test('an operation that the table says is to end tells so with every reply', async (t) => {
  const entry: { deprecated?: Operation['deprecated'] } = operations.wallet.getWallet
  entry.deprecated = { since: '2027-01-01', sunset: '2027-07-01' }
  t.teardown(() => delete entry.deprecated)
  const notice = { deprecation: '@1798761600', sunset: 'Thu, 01 Jul 2027 00:00:00 GMT' }
  t.match((await appOf(t, {}).send('GET', '/players/ply_1/wallet')).headers, notice)
  const refused = await appOf(t, { rpc: refusing('PLAYER_NOT_FOUND') }).send('GET', '/players/ply_1/wallet')
  t.equal(refused.statusCode, 404)
  t.match(refused.headers, notice)
  t.equal((await appOf(t, {}).send('GET', '/me')).headers.deprecation, undefined)
})

t.test('after a fault the key is given back and nothing is stored', async (t) => {
  for (const [rpc, status] of [
    [refusing('SERVICE_UNAVAILABLE'), 503],
    [refusing('PROVIDER_UNAVAILABLE'), 502],
    [
      () => {
        throw new TypeError('a bug')
      },
      500,
    ],
  ] as const) {
    const { send, events } = appOf(t, { rpc })
    const { statusCode, headers } = await send('POST', '/deposits/dep_1/confirm')
    t.equal(statusCode, status)
    t.equal(headers['retry-after'], '1')
    t.same(events, ['call confirmDeposit opn_1', 'release'])
  }
})

t.test('what another attempt stored first is what is sent', async (t) => {
  const first = {
    status: 409,
    contentType: 'text/x',
    body: Buffer.from('{}'),
    requestId: 'req_first',
    code: 'RG_BLOCKED',
  } as const
  const { send } = appOf(t, { stored: () => first })
  const { statusCode, headers } = await send('POST', '/deposits/dep_1/confirm')
  t.equal(statusCode, 409)
  t.equal(headers['x-request-id'], 'req_first')
})

t.test('a reply that cannot be stored is not sent', async (t) => {
  for (const [rejection, status, retryAfter] of [
    [new RetryLater(7, 'IDEMPOTENCY_IN_PROGRESS'), 409, '7'],
    [new Rejection('SERVICE_UNAVAILABLE'), 503, '1'],
  ] as const) {
    const stored = () => {
      throw rejection
    }
    const { statusCode, headers, body } = await appOf(t, { stored }).send('POST', '/deposits/dep_1/confirm')
    t.equal(statusCode, status)
    t.equal(headers['retry-after'], retryAfter)
    t.equal(JSON.parse(body).error.requestId, headers['x-request-id'])
  }
})

t.test('a client that breaks off in its body is no fault of the service, and no alarm', async (t) => {
  const lines: string[] = []
  const app = createServer({ log: createLogger('test', 'warn', { write: (line) => lines.push(line) }) })
  t.teardown(() => app.close())
  app.post('/', async () => 'never')
  const statuses: number[] = []
  let received = 0
  app.addHook('onRequest', async () => {
    received += 1
  })
  app.addHook('onSend', async (_request, reply) => {
    statuses.push(reply.statusCode)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
  await eventually(() => received === 1)
  socket.destroy()
  await eventually(() => statuses.length === 1)
  t.same(statuses, [408])
  t.same(lines, [])
})

t.test('whatever method, path, type and form of a body: an answer in the envelope, and never a fault', async (t) => {
  const { app } = appOf(t, {})
  await app.listen({ host: '127.0.0.1', port: 0 })
  const port = Number(new URL(app.listeningOrigin).port)
  const types = [undefined, 'application/json', 'text/plain', 'nonsense', '/', '*/*', 'application/json; x', ', ,', '"']
  const bodies: readonly [headers: readonly string[], body: string][] = [
    [[], ''],
    [['Content-Length: 0'], ''],
    [['Content-Length: 2'], '{}'],
    [['Content-Length: 1'], '{}'],
    [['Content-Length: 9'], '{}'],
    [['Content-Length: 02'], '{}'],
    [['Content-Length: x'], '{}'],
    [['Content-Length: 9999999'], '{}'],
    [['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'],
    [['Transfer-Encoding: chunked'], '0\r\n\r\n'],
    [['Transfer-Encoding: chunked'], 'no chunk'],
    [['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
    [['Transfer-Encoding: identity'], '{}'],
    [['Expect: 100-continue', 'Content-Length: 2'], '{}'],
    [['Expect: nothing'], ''],
  ]
  const paths = ['/api/v1/me', '/api/v1/players', '/api/v1/players/x/deposits', '/nowhere', '/docs', '*', 'x:1', '/%zz']
  const faulty: string[] = []
  const methods = [...METHODS, 'get', 'NONSENSE']
  // Each method with each body, and each path with each type among them.
  const requests = methods.flatMap((method, first) =>
    bodies.map(([headers, body], second) => {
      const turn = first * bodies.length + second
      const [path, type] = [paths[turn % paths.length], types[Math.floor(turn / paths.length) % types.length]]
      const typed = type === undefined ? [] : [`Content-Type: ${type}`]
      return { lines: [`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, ...typed], body }
    }),
  )
  await inLanes(requests, async ({ lines, body }) => {
    const text = await exchange(port, [...lines, '', body], true)
    // Where there is no whole request, and the client has ended, nobody waits for an answer.
    const isCutOff = lines.some((line) => line === 'Content-Length: 9' || line === 'Content-Length: 9999999')
    const isFine = /^HTTP\/1\.1 [1-4]\d\d .*\r\n(.*\r\n)*x-request-id: req_/i.test(text)
    if (!isFine && !(isCutOff && text === '')) faulty.push(`${lines.join(', ')}: ${text.slice(0, 200)}`)
  })
  t.same(faulty.slice(0, 10), [])
})

/** 3 MB, with its length or in chunks. */
const largeBodies: readonly [framing: string, ...body: string[]][] = [
  ['Content-Length: 3000000', '', 'x'.repeat(3_000_000)],
  ['Transfer-Encoding: chunked', '', ...Array<string>(30).fill(`186a0\r\n${'x'.repeat(100_000)}`), '0', '', ''],
]

t.test('a refusal arrives whole, however much of the request is still on its way', async (t) => {
  const { app } = appOf(t, {})
  const log = createLogger('test', 'silent')
  const listener = new HttpListener({ app, host: '127.0.0.1', port: 0, connectionsMax: 100, log })
  await listener.start()
  const refusals: readonly [error: string, ...head: string[]][] = [
    ['413 PAYLOAD_TOO_LARGE', 'POST /api/v1/players HTTP/1.1', 'Host: x'],
    ['413 PAYLOAD_TOO_LARGE', 'POST /nope HTTP/1.1', 'Host: x'],
    ['404 NOT_FOUND', 'POST /%zz HTTP/1.1', 'Host: x', 'Connection: close'],
    ['405 METHOD_NOT_ALLOWED', 'PUT /api/v1/me HTTP/1.1', 'Host: x', 'Connection: close'],
    ['405 METHOD_NOT_ALLOWED', 'QUERY /api/v1/players HTTP/1.1', 'Host: x', 'Connection: close'],
    ['413 PAYLOAD_TOO_LARGE', 'POST /api/v1/players HTTP/1.1', 'Host: x', 'Expect: 100-continue'],
    ['422 VALIDATION_ERROR', 'GET /api/v1/me HTTP/1.1', 'Host: x'],
    ['400 VALIDATION_ERROR', 'POST /api/v1/players HTTP/1.1', 'Host: x', 'Host: y'],
    ['400 VALIDATION_ERROR', 'POST /api/v1/players HTTP/9.9', 'Host: x'],
    ['404 NOT_FOUND', 'CONNECT x:1 HTTP/1.1', 'Host: x'],
    ['431 HEADERS_TOO_LARGE', 'POST /api/v1/players HTTP/1.1', 'Host: x', `X-Large: ${'a'.repeat(20_000)}`],
  ]
  const all = Array.from({ length: 4 }, () =>
    refusals.flatMap((refusal) => largeBodies.map((body) => ({ refusal, body }))),
  )
  const torn: string[] = []
  await inLanes(all.flat(), async ({ refusal: [error, ...head], body: [framing, ...body] }) => {
    const text = (await exchange(listener.port, [...head, framing, ...body])).replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, '')
    const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(text) ?? []
    const [status, code] = error.split(' ')
    const [, sent = ''] = text.split('\r\n\r\n')
    const isWhole =
      text.startsWith(`HTTP/1.1 ${status} `) && sent.includes(`"${code}"`) && sent.length === Number(length)
    if (!isWhole) torn.push(`${head[0]}, ${framing}: ${text.slice(0, 20)} … ${text.slice(-20)}`)
  })
  t.same(torn, [])
})

const parse = (text: string) => parseStrictJson(Buffer.from(text))

t.test('what any JSON parser reads alike is read', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value)
      fc.pre(
        !text.includes('\\u0000') &&
          !/\\ud[89a-f]/i.test(text) &&
          !text.includes('"__proto__"') &&
          !/\d{16,}/.test(text),
      )
      t.strictSame(parse(text), JSON.parse(text))
    }),
    { numRuns: 200 },
  )
})

t.test('what two parsers could read differently is refused, with the place', async (t) => {
  const refused: readonly [string | Buffer, string][] = [
    ['{"a":1,"a":1}', '/a'],
    ['{"a":{"b":1,"b":2}}', '/a/b'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"__proto__":{}}', '/__proto__'],
    ['{"a":"x\\u0000y"}', '/a'],
    ['{"a":["\\ud800"]}', '/a/0'],
    ['{"a":9007199254740993}', '/a'],
    ['{"a":1e999}', '/a'],
    ['{"a":1,}', ''],
    ['{a:1}', ''],
    ['{"a":1} x', ''],
    ['\ufeff{}', ''],
    ['// c\n{}', ''],
    ['', ''],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), ''],
    ['['.repeat(40) + ']'.repeat(40), ''],
    ['['.repeat(30_000), ''],
  ]
  for (const [source, path] of refused) {
    const attempt = () => parseStrictJson(Buffer.from(source as string))
    t.throws(attempt, StrictJsonError, String(source).slice(0, 40))
    try {
      attempt()
    } catch (error) {
      t.equal((error as StrictJsonError).path, path)
    }
  }
})
