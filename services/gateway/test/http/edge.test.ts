import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { createLogger } from '@backoffice/process'
import { eventually, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { request } from 'undici'
import { createServer } from '../../src/http/app.ts'
import { gateway } from '../../src/service.ts'
import { send, signedHeaders } from '../signed-client.ts'

const connectionsMax = 20
const bed = await testBed(
  t,
  { gateway, players, wallet, payments, webhooks },
  { config: { gateway: { CONNECTIONS_MAX: connectionsMax } } },
)
const { baseUrl } = bed.services.gateway.addresses
const { sandbox } = await bed.team('alice').call(operations.gateway.createOperator, { input: { name: 'Edge' } })
const port = Number(new URL(baseUrl).port)

/** Sends bytes and returns what comes until the other side closes. */
async function exchange(bytes: string | readonly string[], to = port): Promise<string> {
  const socket = connect(to, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', () => {})
  socket.setTimeout(15_000, () => socket.destroy())
  socket.write(typeof bytes === 'string' ? bytes : bytes.join('\r\n'))
  await once(socket, 'close')
  return answer
}

const signedLines = (path: string, body = '') =>
  Object.entries(signedHeaders(sandbox, path, { body })).map(([name, value]) => `${name}: ${value}`)

t.test('no reply may be kept by anybody on its way, and no browser guesses what it is', async (t) => {
  const wallet = await send(baseUrl, sandbox, { path: '/players/ply_x/wallet' })
  const me = await send(baseUrl, sandbox, { path: '/me' })
  const refused = await send(baseUrl, { ...sandbox, secret: 'sk_wrong' }, { path: '/me' })
  const unknown = await send(baseUrl, sandbox, { path: '/nope' })
  for (const { status, headers } of [wallet, me, refused, unknown])
    t.match(headers, { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }, String(status))
  const broken = await exchange('GET / HTTP/9.9\r\n\r\n')
  t.match(broken, /\r\nCache-Control: no-store\r\n/)
  t.match(broken, /\r\nX-Content-Type-Options: nosniff\r\n/)
})

t.test('a document may be kept for a while', async (t) => {
  const { headers, body } = await request(`${baseUrl}/openapi.json`)
  await body.dump()
  t.match(headers, { 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' })
})

t.test('a GET with a body is refused, signed or not, and its connection ends', async (t) => {
  const head = ['GET /api/v1/me HTTP/1.1', 'Host: x', ...signedLines('/api/v1/me', '{}')]
  for (const framing of [
    ['Content-Length: 2', '', '{}'],
    ['Transfer-Encoding: chunked', '', '2', '{}', '0', '', ''],
  ]) {
    const answer = await exchange([...head, ...framing])
    t.match(answer, /^HTTP\/1\.1 422 /)
    t.match(answer, /"code":"VALIDATION_ERROR".*"in":"body"/)
    t.equal(answer.match(/HTTP\/1\.1/g)?.length, 1, 'its body is not taken for a request')
  }
  const document = await exchange([
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
  t.match(await exchange([...head, 'Content-Length: 0', '', '']), /^HTTP\/1\.1 200 /)
})

t.test('two Host headers are refused with 400, before the route and the signature', async (t) => {
  for (const path of ['/api/v1/me', '/nope']) {
    const lines = ['Host: x', 'Connection: close', ...signedLines(path), 'HOST: y']
    const answer = await exchange([`GET ${path} HTTP/1.1`, ...lines, '', ''])
    t.match(answer, /^HTTP\/1\.1 400 /)
    t.match(answer, /"code":"VALIDATION_ERROR".*"in":"headers"/)
    t.match(answer, /\r\nx-request-id: req_/i)
  }
})

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
      exchange('GET / HTTP/1.1\r\nHost: x\r\nX-A: ', to),
      exchange('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{', to),
    ])
    // Node's own interval is 30 s.
    let answers: readonly string[] | undefined
    void cutOff.then((all) => {
      answers = all
    })
    const received = await eventually(() => answers ?? false, 15_000)
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
