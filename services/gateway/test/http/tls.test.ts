import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import { connect as connectPlainly } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { createLogger, HttpListener, keepCertificateFresh, loadConfig, useCertificate } from '@backoffice/process'
import { eventually, makeCertificate, temporaryFolder, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { Agent, request } from 'undici'
import { createServer } from '../../src/http/app.ts'
import { gateway } from '../../src/service.ts'

const dir = temporaryFolder(t)
const [first, second] = [await makeCertificate(dir, 'first'), await makeCertificate(dir, 'second')]
const lines: string[] = []
const log = createLogger('test', 'error', { write: (line) => lines.push(line) })

t.test('with a certificate the listener speaks TLS only', async (t) => {
  const config = { TLS_CERT_FILE: first.certFile, TLS_KEY_FILE: first.keyFile }
  const bed = await testBed(t, { gateway }, { config: { gateway: config } })
  const { baseUrl } = bed.services.gateway.addresses
  t.match(baseUrl, /^https:/)
  const dispatcher = new Agent({ connect: { ca: readFileSync(first.certFile) } })
  t.teardown(() => dispatcher.close())
  const answer = await request(`${baseUrl}/me`, { dispatcher })
  t.equal(answer.statusCode, 401)
  t.match(await answer.body.json(), { error: { code: 'INVALID_CREDENTIALS' } })
  await t.rejects(request(`${baseUrl}/me`), /self-signed/)
  await t.rejects(request(`${baseUrl.replace('https:', 'http:')}/me`))
})

t.test(
  'a listener that ends waits for no connection without a request, whether or not it speaks TLS yet',
  async (t) => {
    const app = createServer({ log, tls: true })
    const listener = new HttpListener({ app, host: '127.0.0.1', port: 0, connectionsMax: 10, certificate: first, log })
    await listener.start()
    const { port } = listener
    const ahead = connect({ port, host: '127.0.0.1', ca: readFileSync(first.certFile) })
    const silent = connectPlainly(port, '127.0.0.1')
    await Promise.all([once(ahead, 'secureConnect'), once(silent, 'connect')])
    const closed = Promise.all([ahead, silent].map((socket) => once(socket.resume(), 'close')))
    await listener.stop()
    t.equal((await closed).length, 2)
  },
)

t.test('a refusal arrives whole over TLS too, though the body is still on its way', async (t) => {
  const app = createServer({ log, tls: true })
  app.post('/', async () => 'never')
  const listener = new HttpListener({ app, host: '127.0.0.1', port: 0, connectionsMax: 10, certificate: first, log })
  await listener.start()
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3000000\r\n\r\n'
  const faults: unknown[] = []
  for (let count = 0; count < 5; count++) {
    const socket = connect({ port: listener.port, host: '127.0.0.1', ca: readFileSync(first.certFile) })
    let answer = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', (error) => faults.push(error)).write(head + 'x'.repeat(3_000_000))
    await once(socket, 'close')
    t.match(answer, /^HTTP\/1\.1 413 [\s\S]*PAYLOAD_TOO_LARGE.*\}\}$/)
  }
  t.same(faults, [])
  await listener.stop()
})

t.test('a certificate without its key is refused at the start', async (t) => {
  const environment = { DATABASE_URL: 'postgres://127.0.0.1/x', NATS_URL: 'nats://127.0.0.1', DEVELOPMENT: 'true' }
  const config = loadConfig(gateway.configuration, { ...environment, TLS_CERT_FILE: first.certFile }) as never
  t.throws(() => gateway.assertSettings?.(config), /TLS_CERT_FILE and TLS_KEY_FILE/)
})

t.test('a renewed certificate is used without a restart, and a broken one is not', async (t) => {
  const files = { certFile: join(dir, 'mounted.crt'), keyFile: join(dir, 'mounted.key') }
  const mount = (from: typeof files) => {
    copyFileSync(from.certFile, files.certFile)
    copyFileSync(from.keyFile, files.keyFile)
  }
  mount(first)
  const app = createServer({ log, tls: true })
  await useCertificate(app.server, files)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const loop = keepCertificateFresh(app.server, files, { log, everyMs: 10 })
  t.teardown(() => loop.stop())
  loop.start()
  const port = Number(new URL(app.listeningOrigin).port)
  t.equal(await commonName(port), 'first')
  mount(second)
  await eventually(async () => (await commonName(port)) === 'second')
  copyFileSync(first.certFile, files.keyFile)
  await eventually(() => lines.some((line) => line.includes('the former one is kept')))
  t.equal(await commonName(port), 'second')
})

/** Of the certificate that a new connection is shown. */
function commonName(port: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}
