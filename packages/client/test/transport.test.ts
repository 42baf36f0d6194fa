import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type PublicErrorCode, publicErrorCodes, publicErrors } from '@backoffice/contracts'
import t, { type Test } from 'tap'
import {
  apiVersion,
  BackOfficeClient,
  BackOfficeError,
  type ClientOptions,
  ConnectionError,
  type RequestEvent,
  type ResponseEvent,
  type RetryEvent,
} from '../src/index.ts'

interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** What is sent in place of a JSON body. */
  readonly text?: string
}

/** The request arrives, and its reply does not. */
const lost = 'lost'
type Scripted = Reply | typeof lost

/** A server on the way to the API, such as a proxy: it gives these replies in turn, and the last one from then on. */
async function proxyWith(t: Test, replies: readonly Scripted[], options: Partial<ClientOptions> = {}) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    const reply = replies[Math.min(requests.length, replies.length - 1)] ?? { status: 500 }
    requests.push(request)
    request.resume()
    if (reply === lost) return void request.on('end', () => request.socket.destroy())
    const { status, headers = {}, body = {}, text = JSON.stringify(body) } = reply
    response.writeHead(status, { 'X-Request-Id': `req_${requests.length}`, ...headers }).end(text)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const credential = { key: 'bk_test_key', secret: 'sk_secret' }
  return { requests, client: new BackOfficeClient({ baseUrl, ...credential, retryDelayMs: 1, ...options }) }
}

const deposit = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: 'collected-77' }
const busy = (retryAfter: string) => ({ status: 503, headers: { 'Retry-After': retryAfter } })

t.test(
  'whoever asks for a longer wait than is allowed gets no further attempt, and the caller hears of it',
  async (t) => {
    const { client, requests } = await proxyWith(t, [busy('3600')])
    const error = await client.me().catch((error) => error)
    t.match(error, { status: 503, code: 'UNKNOWN', retryAfterMs: 3_600_000 })
    t.equal(requests.length, 1)
    const day = await proxyWith(t, [busy(new Date(Date.now() + 86_400_000).toUTCString())])
    await t.rejects(day.client.me(), BackOfficeError)
    t.equal(day.requests.length, 1)
  },
)

t.test('a wait within the bound is kept, in seconds as in a date, and the bound is a setting', async (t) => {
  const done = { status: 200, body: { operator: { name: 'demo' } } }
  const waited: number[] = []
  const onRetry = ({ delayMs }: RetryEvent) => waited.push(delayMs)
  const past = new Date(Date.now() - 60_000).toUTCString()
  const { client } = await proxyWith(t, [busy('0'), busy(past), busy('1'), done], { onRetry })
  t.match(await client.me(), { operator: { name: 'demo' } })
  t.same(waited, [0, 0, 1_000])
  const strict = await proxyWith(t, [busy('1'), done], { retryAfterMsMax: 500 })
  t.match(await strict.client.me().catch((error) => error), { retryAfterMs: 1_000 })
  t.equal(strict.requests.length, 1)
})

t.test('what the error catalogue calls retryable is sent again under its key, and nothing else is', async (t) => {
  for (const code of publicErrorCodes) {
    const { status, message, retryable } = publicErrors[code]
    const refused = { status, body: { error: { code, message } } }
    const { client, requests } = await proxyWith(t, [refused, { status: 200 }])
    const error = await client.confirmDeposit('dep_1').catch((error) => error)
    t.equal(requests.length, retryable ? 2 : 1, code)
    if (!retryable) t.match(error, { code, retryable: false })
  }
})

const refusal = (code: string, status: number, details?: object): Reply => ({
  status,
  body: { error: { code, message: 'no', requestId: 'req_x', details } },
})
/** How the confirmation of a deposit ends that gets these replies. */
async function failureOf(t: Test, replies: readonly Scripted[], idempotencyKey = 'pay-1:confirm') {
  const { client } = await proxyWith(t, replies, { attemptsMax: replies.length })
  return client.confirmDeposit('dep_1', { idempotencyKey }).catch((error) => error)
}
const unknown = (cause: object) => ({
  name: 'ConnectionError',
  retryable: true,
  final: false,
  idempotencyKey: 'pay-1:confirm',
  cause: { name: 'BackOfficeError', final: false, ...cause },
})

/** In the order of the gateway's checks. */
const beforeTheKey: readonly PublicErrorCode[] = [
  ...(['HEADERS_TOO_LARGE', 'NOT_FOUND', 'METHOD_NOT_ALLOWED', 'PAYLOAD_TOO_LARGE'] as const),
  ...(['INVALID_CREDENTIALS', 'TIMESTAMP_OUT_OF_RANGE', 'INVALID_SIGNATURE', 'OPERATOR_SUSPENDED'] as const),
  ...(['FORBIDDEN_IP', 'RATE_LIMITED', 'SANDBOX_ONLY', 'UNSUPPORTED_MEDIA_TYPE', 'IDEMPOTENCY_KEY_REQUIRED'] as const),
]
/** After the key was looked up, and the client says the same of each 429: the next day will tell. */
const tomorrow: readonly PublicErrorCode[] = ['DAILY_QUOTA_EXCEEDED']
/** Of operations without a key only, so that none of them follows a lost reply. */
const withoutAKey: readonly PublicErrorCode[] = ['GAME_NOT_FOUND', 'WITHDRAWAL_INVALID_STATE', 'WEBHOOK_NOT_CONFIGURED']

t.test('after a lost reply a refusal is the outcome only if it came after the key was looked up', async (t) => {
  for (const code of publicErrorCodes) {
    const { status, retryable = false } = publicErrors[code]
    const error = await failureOf(t, [lost, refusal(code, status)])
    if ([...beforeTheKey, ...tomorrow, ...withoutAKey].includes(code)) t.match(error, unknown({ code, status }), code)
    // A failure says by itself that the outcome is unknown.
    else t.match(error, { name: 'BackOfficeError', code, retryable, final: !retryable }, code)
  }
  const error = await failureOf(t, [lost, refusal('INVALID_CREDENTIALS', 401)])
  t.match(error.message, /^an earlier attempt may have been carried out, the last was refused: 401 INVALID_CREDENTIALS/)
})

t.test('what looks like a refusal under the key, and came before it, leaves the outcome unknown', async (t) => {
  const badKey = refusal('VALIDATION_ERROR', 422, { in: 'headers', issues: [] })
  t.match(await failureOf(t, [lost, badKey]), unknown({ code: 'VALIDATION_ERROR' }))
  const badBody = refusal('VALIDATION_ERROR', 422, { in: 'body', issues: [] })
  t.match(await failureOf(t, [lost, badBody]), { code: 'VALIDATION_ERROR', final: true })
  const used = refusal('IDEMPOTENCY_CONFLICT', 409, { signature: 'used' })
  t.match(await failureOf(t, [lost, used]), unknown({ code: 'IDEMPOTENCY_CONFLICT' }))
  for (const status of [403, 413, 429])
    t.match(await failureOf(t, [lost, { status, text: '<html>No</html>' }]), unknown({ code: 'UNKNOWN', status }))
  t.match(await failureOf(t, [lost, { status: 403, body: { error: { code: 7 } } }]), unknown({ code: 'UNKNOWN' }))
  // It says by itself that the outcome is unknown.
  t.match(await failureOf(t, [lost, { status: 502 }]), { status: 502, retryable: true, final: false })
})

t.test('a code that is newer than the client is final when it comes from the store', async (t) => {
  const newer = refusal('NEW_RULE', 409)
  t.match(await failureOf(t, [lost, newer]), unknown({ code: 'NEW_RULE' }))
  const stored = { ...newer, headers: { 'Idempotent-Replayed': 'true' } }
  t.match(await failureOf(t, [lost, stored]), { code: 'NEW_RULE', replayed: true, final: true })
})

t.test('whatever left the outcome unknown counts, however long ago, and nothing else does', async (t) => {
  const revoked = refusal('INVALID_CREDENTIALS', 401)
  const limited = { ...refusal('RATE_LIMITED', 429), headers: { 'Retry-After': '0' } }
  const running = refusal('IDEMPOTENCY_IN_PROGRESS', 409)
  const open: readonly Scripted[] = [lost, { status: 503 }, { status: 200, text: '' }, running]
  for (const earlier of open)
    t.match(await failureOf(t, [earlier, limited, revoked]), unknown({ code: 'INVALID_CREDENTIALS' }))
  t.match(await failureOf(t, [limited, revoked]), { code: 'INVALID_CREDENTIALS', retryable: false, final: false })
  t.match(await failureOf(t, [lost, limited, { status: 200, body: { id: 'dep_1' } }]), { id: 'dep_1' })
  const { client } = await proxyWith(t, [lost, revoked])
  t.match(
    await client.me().catch((error) => error),
    { code: 'INVALID_CREDENTIALS', final: true },
    'a read has no effect',
  )
})

t.test('what has no key is sent again only when it certainly had no effect', async (t) => {
  for (const status of [408, 429, 503]) {
    const { client, requests } = await proxyWith(t, [{ status }], { attemptsMax: 2 })
    t.match(await client.testWebhook().catch((error) => error), { status, code: 'UNKNOWN', retryable: true })
    t.equal(requests.length, status === 429 ? 2 : 1, String(status))
  }
})

t.test('a success without a record is unknown, and is sent again under the same key', async (t) => {
  for (const text of ['<html>One moment, please</html>', '', 'null', '[]', '"done"']) {
    const { client, requests } = await proxyWith(t, [
      { status: 200, text },
      { status: 200, body: { id: 'dep_1' } },
    ])
    t.same(await client.confirmDeposit('dep_1'), { id: 'dep_1' }, text)
    const [key, keyAgain] = requests.map(({ headers }) => headers['idempotency-key'])
    t.ok(key)
    t.equal(key, keyAgain)
    const broken = await proxyWith(t, [{ status: 200, text }], { attemptsMax: 2 })
    const error = await broken.client.confirmDeposit('dep_1', { idempotencyKey: 'pay-1:confirm' }).catch((e) => e)
    t.ok(error instanceof BackOfficeError)
    t.match(error, { status: 200, code: 'UNKNOWN', idempotencyKey: 'pay-1:confirm', retryable: true })
    t.equal(broken.requests.length, 2)
    await t.rejects(broken.client.testWebhook(), { code: 'UNKNOWN' })
    t.equal(broken.requests.length, 3, 'what has no key is not sent again')
  }
})

t.test('a request that cannot be sent rejects at once with what is wrong', async (t) => {
  const attempts: RequestEvent[] = []
  const onRequest = (event: RequestEvent) => attempts.push(event)
  const { client } = await proxyWith(t, [{ status: 200 }], { onRequest })
  await t.rejects(client.confirmDeposit('dep_1', { idempotencyKey: 'payout–123' }), TypeError)
  t.same(attempts, [])
})

t.test('what the reply said beside the record is there for who asks', async (t) => {
  const headers = { 'Idempotent-Replayed': 'true' }
  const { client } = await proxyWith(t, [{ status: 200, headers, body: { data: [{ id: 'ply_1' }] } }])
  const { data, headers: received, ...reply } = await client.findPlayer('ana-1').withResponse()
  t.same({ data, ...reply }, { data: { id: 'ply_1' }, status: 200, requestId: 'req_1', replayed: true })
  t.equal(received.get('idempotent-replayed'), 'true')
  t.same(await client.findPlayer('ana-1'), { id: 'ply_1' })
  const heard: boolean[] = []
  const refused = { ...refusal('DEPOSIT_NOT_FOUND', 404), headers }
  const observed = await proxyWith(t, [refused], { onResponse: ({ replayed }) => heard.push(replayed) })
  t.match(await observed.client.confirmDeposit('dep_1').catch((error) => error), { replayed: true, final: true })
  t.same(heard, [true], 'of a refusal, too')
})

t.test('a failure reaches whoever waits, once, and no process ends of it', async (t) => {
  const unhandled: unknown[] = []
  const listen = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', listen)
  t.teardown(() => process.off('unhandledRejection', listen))
  const { client } = await proxyWith(t, [{ status: 404 }])
  await t.rejects(client.findPlayer('nobody').withResponse(), BackOfficeError)
  await t.rejects(client.listGames().withResponse(), BackOfficeError)
  await t.rejects(client.listGames(), BackOfficeError)
  await t.rejects(client.getWallet('\ud800'), URIError)
  // Node.js looks for rejections that nobody heard of before the next turn of its loop.
  await new Promise((resolve) => setImmediate(resolve))
  t.same(unhandled, [])
})

t.test('hooks hear of every attempt, and never of a secret, a signature or a body', async (t) => {
  const heard: [string, RequestEvent | ResponseEvent | RetryEvent][] = []
  const hooks = {
    onRequest: (event: RequestEvent) => heard.push(['request', event]),
    onResponse: (event: ResponseEvent) => heard.push(['response', event]),
    onRetry: (event: RetryEvent) => heard.push(['retry', event]),
  }
  const { client, requests } = await proxyWith(t, [{ status: 502 }, { status: 201, body: { id: 'dep_1' } }], hooks)
  await client.createDeposit('ply_1', deposit, { idempotencyKey: 'pay-1:create' })
  const asked = { method: 'POST', route: '/players/{playerId}/deposits', path: '/players/ply_1/deposits' }
  const first = { ...asked, idempotencyKey: 'pay-1:create', attempt: 1 }
  t.match(heard, [
    ['request', first],
    ['response', { ...first, status: 502, requestId: 'req_1', replayed: false, error: { code: 'UNKNOWN' } }],
    ['retry', { ...first, error: { status: 502 }, delayMs: Number }],
    ['request', { ...first, attempt: 2 }],
    ['response', { ...first, attempt: 2, status: 201, requestId: 'req_2', durationMs: Number, error: undefined }],
  ])
  const told = JSON.stringify(heard)
  for (const { headers } of requests)
    for (const never of ['sk_secret', headers['x-signature'], deposit.externalReference])
      t.notOk(told.includes(String(never)), String(never))
})

t.test('a hook that fails is a warning, and the request is done', async (t) => {
  const warnings: string[] = []
  const listen = ({ message }: Error) => message.includes('are away') && warnings.push(message)
  process.on('warning', listen)
  t.teardown(() => process.off('warning', listen))
  const hooks = {
    onRequest: () => {
      throw new Error('metrics are away')
    },
    onResponse: () => Promise.reject(new Error('logs are away')),
  }
  const { client } = await proxyWith(t, [{ status: 200, body: { data: [] } }], hooks)
  t.same(await client.listGames(), [])
  await new Promise((resolve) => setImmediate(resolve))
  t.match(warnings, [/metrics are away/, /logs are away/])
})

t.test(
  'no reply is a ConnectionError, which hooks hear of, and an aborted request ends with its own reason',
  async (t) => {
    const statuses: (number | undefined)[] = []
    const onResponse = ({ status }: ResponseEvent) => statuses.push(status)
    const nowhere = { baseUrl: 'http://127.0.0.1:1/api/v1', attemptsMax: 2, onResponse }
    const { client } = await proxyWith(t, [busy('1')], nowhere)
    await t.rejects(client.me(), ConnectionError)
    t.same(statuses, [undefined, undefined])
    const stop = new AbortController()
    const waiting = await proxyWith(t, [busy('30')], { onRetry: () => stop.abort(new Error('enough')) })
    await t.rejects(waiting.client.me({ signal: stop.signal }), /enough/)
  },
)

t.test('hooks hear that an attempt under way was aborted, and none follows', async (t) => {
  const heard: ResponseEvent[] = []
  const stop = new AbortController()
  const { client } = await proxyWith(t, [{ status: 200 }], {
    onResponse: (event) => heard.push(event),
    fetch: (url, init) => {
      const reply = fetch(url, init)
      stop.abort(new Error('enough'))
      return reply
    },
  })
  await t.rejects(client.confirmDeposit('dep_1', { signal: stop.signal }), /enough/)
  t.equal(heard.length, 1)
  t.match(heard[0], { attempt: 1, status: undefined, error: { name: 'ConnectionError', cause: stop.signal.reason } })
})

t.test('a request says which client sends it', async (t) => {
  const { client, requests } = await proxyWith(t, [{ status: 200 }])
  await client.me()
  t.match(requests[0]?.headers['user-agent'], new RegExp(`^backoffice-client/${apiVersion} \\(Node\\.js/\\d`))
})

t.test('a client that could send nothing is refused where it is made', async (t) => {
  const baseUrl = 'https://backoffice.invalid/api/v1'
  t.throws(() => new BackOfficeClient({ baseUrl, key: '', secret: 'sk_x' }), /needs the key/)
  t.throws(() => new BackOfficeClient({ baseUrl, key: 'bk_test_x', secret: '' }), /needs the secret/)
  t.throws(() => new BackOfficeClient({ baseUrl: 'backoffice', key: 'bk_test_x', secret: 'sk_x' }), TypeError)
  for (const wrong of ['localhost:8080/api/v1', 'https://name:password@backoffice.invalid/api/v1'])
    t.throws(() => new BackOfficeClient({ baseUrl: wrong, key: 'bk_test_x', secret: 'sk_x' }), /baseUrl/, wrong)
})
