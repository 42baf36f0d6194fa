// proof: a real nginx before the gateway, as the Ingress sets it up. It changes with deploy/ alone.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { bodyBytesMax, operations, signRequest } from '@backoffice/contracts'
import { freePort } from '@backoffice/dev-stack'
import { testVectors } from '@backoffice/documents'
import { serveHttp, skipWithout, type Teardown, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { services } from '../services.ts'
import { startProxy } from './proxies.ts'

const skip = skipWithout('nginx', 'nginx-light')
const asInProduction = readFileSync(new URL('./nginx.conf', import.meta.url), 'utf8')

interface Credentials {
  readonly key: string
  readonly secret: string | null
}
interface Sent {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string
}

interface RawRequest {
  readonly port: number
  readonly method: string
  /** Goes into the request line as it is. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** From which address of this machine; 127.0.0.1 when left out. */
  readonly from?: string
}

interface RawAnswer {
  readonly status: number
  /** The error's code; undefined for a success, or for what the gateway did not write. */
  readonly code: string | undefined
}

/** Sends a request over a connection of its own, byte by byte as it is told: any client would tidy it up. */
async function sendRaw({ port, method, path, headers, body, from }: RawRequest): Promise<RawAnswer> {
  const socket = connect({ host: '127.0.0.1', port, ...(from === undefined ? {} : { localAddress: from }) })
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(method === 'GET' && body.length === 0 ? [] : [`Content-Length: ${body.length}`]),
  ]
  socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]))
  const answer = await text(socket)
  const [, code] = /"code":"([A-Z_]+)"/.exec(answer) ?? []
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]), code }
}

/** Signed now, and sent as it is. */
function send(port: number, { key, secret }: Credentials, { headers, ...sent }: Sent): Promise<RawAnswer> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  return sendRaw({
    ...sent,
    port,
    body: Buffer.from(sent.body),
    headers: {
      'X-Operator-Key': key,
      'X-Timestamp': timestamp,
      'X-Signature': signRequest(secret ?? '', { ...sent, timestamp }),
      ...(sent.method === 'POST' ? { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() } : {}),
      ...headers,
    },
  })
}

/** Keeps what arrived. */
async function startEcho(t: Teardown) {
  const received: { path: string | undefined; body: Buffer }[] = []
  const url = await serveHttp(t, async (request, response) => {
    received.push({ path: request.url, body: await buffer(request) })
    response.end()
  })
  return { port: Number(new URL(url).port), received }
}

t.test('through nginx as the Ingress sets it up', { skip }, async (t) => {
  const bed = await testBed(t, services, { config: { gateway: { TRUSTED_PROXIES: '127.0.0.1/32' } } })
  const direct = Number(new URL(bed.services.gateway.addresses.baseUrl).port)
  const nginx = async (edit = (configuration: string) => configuration) => {
    const port = await freePort()
    const filled = asInProduction.replaceAll('@PORT@', String(port)).replaceAll('@GATEWAY@', `127.0.0.1:${direct}`)
    await startProxy(t, { program: 'nginx', configuration: edit(filled), port })
    return port
  }
  const newOperator = async (name: string, allowedAddresses: string[] = []) => {
    const input = { name, rateLimitPerMinute: 100_000, allowedAddresses }
    return (await bed.team('alice').call(operations.gateway.createOperator, { input })).sandbox
  }
  const operator = await newOperator('Vectors')
  const vectors = testVectors().requests
  const proxied = await nginx()

  await t.test('every request vector passes the signature check, and is answered as without nginx', async (t) => {
    t.ok(vectors.length > 30)
    for (const vector of vectors) {
      const [straight, through] = [await send(direct, operator, vector), await send(proxied, operator, vector)]
      t.same(through, straight, `${vector.name}: ${straight.status} ${straight.code ?? ''}`)
      t.not(straight.code, 'INVALID_SIGNATURE')
    }
  })

  await t.test('what is wrongly signed is refused there as here', async (t) => {
    const forger = { ...operator, secret: 'sk_test_wrong' }
    let refused = 0
    for (const vector of vectors) {
      const [straight, through] = [await send(direct, forger, vector), await send(proxied, forger, vector)]
      t.same(through, straight, vector.name)
      if (through.code === 'INVALID_SIGNATURE') refused += 1
    }
    // The others are of no known path, which is said first.
    t.ok(refused >= 30 && refused < vectors.length)
  })

  await t.test('path and body arrive as the bytes that were sent, on unknown paths too', async (t) => {
    const echo = await startEcho(t)
    const port = await nginx((text) => text.replaceAll(`127.0.0.1:${direct}`, `127.0.0.1:${echo.port}`))
    for (const vector of vectors) {
      await send(port, operator, vector)
      t.same(echo.received.at(-1), { path: vector.path, body: Buffer.from(vector.body) }, vector.name)
    }
    t.ok(echo.received.length >= vectors.length)
  })

  await t.test('a proxy_pass with a path would break signatures: these vectors would notice', async (t) => {
    const rewriting = await nginx((text) => text.replace('proxy_pass http://gateway;', 'proxy_pass http://gateway/;'))
    const answers = await Promise.all(vectors.map((vector) => send(rewriting, operator, vector)))
    t.ok(answers.some(({ code }) => code === 'INVALID_SIGNATURE'))
  })

  await t.test('a body that is too large is refused by the gateway, not by nginx', async (t) => {
    const vector = { method: 'POST', path: '/api/v1/players', body: `"${'x'.repeat(bodyBytesMax)}"` }
    t.same(await send(proxied, operator, vector), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
  })

  const appending = (text: string) => text.replace('$remote_addr', '$proxy_add_x_forwarded_for')
  for (const [kind, port] of [
    ['overwrites', proxied],
    ['appends to', await nginx(appending)],
  ] as const) {
    await t.test(`an nginx that ${kind} X-Forwarded-For: FORBIDDEN_IP judges the address that it saw`, async (t) => {
      const bound = await newOperator(`Bound ${kind}`, ['127.0.0.2'])
      const me = { method: 'GET', path: '/api/v1/me', body: '' }
      t.same(await send(port, bound, { ...me, from: '127.0.0.2' }), { status: 200, code: undefined })
      t.same(await send(port, bound, { ...me, from: '127.0.0.3' }), { status: 403, code: 'FORBIDDEN_IP' })
      for (const forged of ['127.0.0.2', '127.0.0.2, 127.0.0.1', '127.0.0.1', 'unknown', '']) {
        const headers = { 'X-Forwarded-For': forged }
        const answer = await send(port, bound, { ...me, from: '127.0.0.3', headers })
        t.same(answer, { status: 403, code: 'FORBIDDEN_IP' }, `X-Forwarded-For: ${forged}`)
      }
      // Past nginx, from an address that nobody trusts as a proxy.
      const headers = { 'X-Forwarded-For': '127.0.0.2' }
      t.match(await send(direct, bound, { ...me, from: '127.0.0.3', headers }), { code: 'FORBIDDEN_IP' })
    })
  }

  const haproxyMissing = skipWithout('haproxy', 'haproxy')
  await t.test('an edge that leaves the path alone', { skip: haproxyMissing }, async (t) => {
    const port = await haproxy(t, direct)
    for (const vector of vectors)
      t.same(await send(port, operator, vector), await send(direct, operator, vector), vector.name)
  })

  // What Envoy Gateway does unless deploy/k8s/components/gateway-api takes it back, each tried with a proxy that can.
  for (const [what, rule] of [
    ['resolves dot segments', 'path-strip-dotdot'],
    ['decodes what needs no percent sign', 'percent-decode-unreserved'],
    ['merges slashes', 'path-merge-slashes'],
  ] as const) {
    await t.test(`an edge that ${what} breaks signatures: a vector notices`, { skip: haproxyMissing }, async (t) => {
      const port = await haproxy(t, direct, `  http-request normalize-uri ${rule}`)
      const broken = []
      for (const vector of vectors)
        if ((await send(port, operator, vector)).code !== (await send(direct, operator, vector)).code)
          broken.push(vector.name)
      t.ok(broken.length > 0 && broken.length < vectors.length / 2, broken.join(', '))
    })
  }
})

/** In front of the gateway, with one more rule for requests. */
async function haproxy(t: Teardown, gateway: number, rule = ''): Promise<number> {
  const port = await freePort()
  const configuration = `
global
  expose-experimental-directives
defaults
  mode http
  timeout connect 3s
  timeout client 60s
  timeout server 60s
frontend edge
  bind 127.0.0.1:${port}
${rule}
  http-request set-header X-Forwarded-For %[src]
  default_backend gateways
backend gateways
  retry-on conn-failure
  server gateway 127.0.0.1:${gateway}
`
  await startProxy(t, { program: 'haproxy', configuration, port })
  return port
}
