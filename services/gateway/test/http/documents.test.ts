import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { pages } from '@backoffice/api-docs'
import { servedProviders } from '@backoffice/api-docs/served'
import fastify from 'fastify'
import t from 'tap'
import { request } from 'undici'
import { DocumentThread, documentRoutes } from '../../src/http/documents.ts'

const app = fastify({ exposeHeadRoutes: false })
const routes = [
  ...documentRoutes(() => 'https://backoffice.example.org/api/v1'),
  ...documentRoutes(() => 'https://providers.example.org/provider/v1', servedProviders),
]
for (const route of routes) app.route(route)
const address = await app.listen({ host: '127.0.0.1', port: 0 })
const baseUrl = `${address}/api/v1`
t.teardown(() => app.close())

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Got> {
  const response = await request((path.startsWith('/provider/') ? address : baseUrl) + path, { headers })
  const body = Buffer.from(await response.body.arrayBuffer())
  return { status: response.statusCode, headers: response.headers, body }
}
const encoded = (path: string, acceptEncoding: string) => get(path, { 'Accept-Encoding': acceptEncoding })

t.test('a thread that dies fails the requests that wait for it, and the next request starts another', async (t) => {
  // It hears neither of two requests, and dies when both wait.
  const { postMessage } = Worker.prototype
  let waiting = 0
  Worker.prototype.postMessage = function () {
    waiting += 1
    if (waiting === 2) void this.terminate()
  }
  const failed = await Promise.all([get('/docs'), get('/docs/webhooks')])
  Worker.prototype.postMessage = postMessage
  t.strictSame(
    failed.map(({ status }) => status),
    [500, 500],
  )
  t.equal((await get('/docs')).status, 200)
})

t.test('a thread with nothing to do ends, and the next document starts another', async (t) => {
  const thread = new DocumentThread(0)
  for (const name of ['getTestVectors', 'getChangelog']) {
    const started = once(process, 'worker')
    const made = thread.make({ name, baseUrl })
    const [worker] = await started
    const ended = once(worker, 'exit')
    t.ok((await made).body.length > 0)
    await ended
  }
})

t.test('the OpenAPI document is served without samples to whoever asks', async (t) => {
  const [whole, bare, other] = await Promise.all(
    ['', '?samples=false', '?samples=true'].map((query) => get(`/openapi.json${query}`)),
  )
  t.match(String(whole?.body), 'x-codeSamples')
  t.equal(String(other?.body), String(whole?.body))
  t.notMatch(String(bare?.body), 'x-codeSamples')
  t.not(bare?.headers.etag, whole?.headers.etag)
})

t.test('all documents are made in that one thread', async (t) => {
  let started = 0
  const count = () => {
    started += 1
  }
  process.on('worker', count)
  t.teardown(() => process.off('worker', count))
  // All at once, so that it has something to do until the last of them is made.
  const made = routes.map(async ({ url }) => ({ url, ...(await get(url.replace('/api/v1', ''))) }))
  for (const { url, status, headers, body } of await Promise.all(made)) {
    t.equal(status, 200, url)
    t.equal(headers['content-length'], String(body.length))
  }
  t.ok(started <= 1, 'the one that was there, or another if it had ended')
})

t.test("the providers' documents name their own address, and no operation of an operator", async (t) => {
  const [document, page] = await Promise.all(['/openapi.json', '/docs'].map((path) => get(`/provider/v1${path}`)))
  t.match(String(document?.body), '"url":"https://providers.example.org/provider/v1/{brandId}"')
  t.match(String(page?.body), 'BASE_URL=https://providers.example.org/provider/v1/')
  t.match(page?.headers['content-security-policy'], /default-src 'none'/)
  for (const body of [document?.body, page?.body]) t.notMatch(String(body), /createDeposit|X-Operator-Key/)
})

t.test('a document is sent in the encoding that the client prefers, and is the same in each', async (t) => {
  for (const path of ['/docs', '/openapi.json', '/changelog', '/docs/webhooks', '/docs/assets/docs.css']) {
    const plain = await get(path)
    t.equal(plain.headers['content-encoding'], undefined, path)
    const [br, gzip] = [await encoded(path, 'gzip, deflate, br'), await encoded(path, 'gzip')]
    t.equal(br.headers['content-encoding'], 'br')
    t.ok(brotliDecompressSync(br.body).equals(plain.body))
    t.ok(br.body.length < plain.body.length / 2)
    t.equal(gzip.headers['content-encoding'], 'gzip')
    t.ok(gunzipSync(gzip.body).equals(plain.body))
    for (const { headers, body } of [plain, br, gzip]) {
      t.equal(headers.vary, 'Accept-Encoding')
      t.equal(headers['content-length'], String(body.length))
      t.match(headers['cache-control'], /^public, max-age=300$/)
    }
  }
})

t.test('what a client does not accept it does not get', async (t) => {
  const encodings: Record<string, string | undefined> = {
    '*': 'br',
    'br;q=0, gzip': 'gzip',
    'br;q=0.2, gzip;q=0.8': 'gzip',
    'gzip;q=0': undefined,
    identity: undefined,
    'zstd, x-gzip': undefined,
    '': undefined,
  }
  for (const [accepted, encoding] of Object.entries(encodings)) {
    const { status, headers } = await encoded('/openapi.json', accepted)
    t.equal(status, 200)
    t.equal(headers['content-encoding'], encoding, `Accept-Encoding: ${accepted}`)
  }
})

t.test('each encoding has an ETag of its own, with which a repeated fetch costs nothing', async (t) => {
  const tags = new Set<unknown>()
  for (const accepted of ['br', 'gzip', 'identity']) {
    const { headers } = await encoded('/docs', accepted)
    const etag = String(headers.etag)
    t.match(etag, /^"[\w-]+"$/, 'a strong one')
    tags.add(etag)
    for (const named of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const again = await get('/docs', { 'Accept-Encoding': accepted, 'If-None-Match': named })
      t.equal(again.status, 304, `${accepted}: ${named}`)
      t.equal(again.headers.etag, etag)
      t.equal(again.headers.vary, 'Accept-Encoding')
      t.equal(again.body.length, 0)
    }
  }
  t.equal(tags.size, 3)
  const [brotli = ''] = tags
  const other = await get('/docs', { 'Accept-Encoding': 'gzip', 'If-None-Match': String(brotli) })
  t.equal(other.status, 200, 'the tag of another encoding is the tag of other bytes')
})

t.test('a small document is not compressed', async (t) => {
  const { headers, body } = await encoded('/docs/assets/theme.js', 'br, gzip')
  t.ok(body.length < 1_024)
  t.equal(headers['content-encoding'], undefined)
})

t.test('only at the address with its version a file may be kept for good', async (t) => {
  const page = (await get('/docs')).body.toString()
  const versioned = [...page.matchAll(/"\/api\/v1(\/docs\/assets\/[\w.]+\?v=[\w-]+)"/g)].map(([, path = '']) => path)
  t.ok(versioned.length >= 5)
  for (const path of versioned) {
    t.match((await get(path)).headers['cache-control'], 'immutable', path)
    // During a roll-out a page of one release asks a process of another.
    const other = await get(path.replace(/v=.*/, 'v=of-another-release'))
    t.equal(other.status, 200)
    t.notMatch(other.headers['cache-control'], 'immutable')
  }
})

t.test('every page has the policy that forbids anything from elsewhere, and no script inside', async (t) => {
  for (const path of ['/docs', ...pages.map((page) => `/docs/${page.path}`), '/docs/languages/python']) {
    const { status, headers } = await get(path)
    t.equal(status, 200, path)
    t.match(headers['content-security-policy'], /default-src 'none'.*require-trusted-types-for 'script'/)
    t.equal(headers['referrer-policy'], 'no-referrer')
  }
  t.match((await get('/docs/changelog')).headers['content-type'], 'text/html')
  t.match((await get('/changelog')).headers['content-type'], 'text/markdown', 'the operation still answers Markdown')
})
