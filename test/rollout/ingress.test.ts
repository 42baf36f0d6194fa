// proof: a real nginx before the gateway, as the Ingress sets it up. It changes with deploy/ alone.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { testVectors } from '@backoffice/api-docs'
import { bodyBytesMax, operations, signRequest } from '@backoffice/contracts'
import { freePort } from '@backoffice/local-stack'
import { skipWithout, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { exchange } from '../e2e/hostile-bytes.ts'
import { services } from '../services.ts'
import { startProxy } from './fleet.ts'

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

interface RawAnswer {
  readonly status: number
  /** The error's code; undefined for a success, or for what the gateway did not write. */
  readonly code: string | undefined
}

/** Signed now, and sent byte by byte as it is told: any client would tidy it up. */
async function send(port: number, { key, secret }: Credentials, { from, ...sent }: Sent): Promise<RawAnswer> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'X-Operator-Key': key,
    'X-Timestamp': timestamp,
    'X-Signature': signRequest(secret ?? '', { ...sent, timestamp }),
    ...(sent.method === 'POST' ? { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() } : {}),
    ...sent.headers,
  }
  const body = Buffer.from(sent.body)
  const lines = [
    `${sent.method} ${sent.path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(sent.method === 'GET' && body.length === 0 ? [] : [`Content-Length: ${body.length}`]),
  ]
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
  const answer = await exchange(port, bytes, { isWhole: true, hasBody: true, ...(from === undefined ? {} : { from }) })
  const [, code] = /"code":"([A-Z_]+)"/.exec(answer?.text ?? '') ?? []
  return { status: answer?.status ?? 0, code }
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

  // It covers path and body, so these arrive as the bytes that were sent.
  await t.test('every request vector passes the signature check, and is answered as without nginx', async (t) => {
    t.ok(vectors.length > 30)
    for (const vector of vectors) {
      const [straight, through] = [await send(direct, operator, vector), await send(proxied, operator, vector)]
      t.same(through, straight, `${vector.name}: ${straight.status} ${straight.code ?? ''}`)
      t.not(straight.code, 'INVALID_SIGNATURE')
    }
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
})
