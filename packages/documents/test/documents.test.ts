import {
  bodySha256,
  canonicalString,
  errorCatalogue,
  httpOperations,
  publicEventKinds,
  signRequest,
  signWebhook,
} from '@backoffice/contracts'
import t from 'tap'
import {
  docsContentSecurityPolicy,
  documentation,
  openApiDocument,
  postmanCollection,
  publishedErrorCodes,
  testVectors,
} from '../src/index.ts'

const baseUrl = 'https://backoffice.example.org/api/v1'
const mainPage = () => String(documentation.get('')?.({ baseUrl }).body)

t.test('there are at least 30 vectors, with names of their own, and our own signer agrees with each', async (t) => {
  const { requests, webhooks } = testVectors()
  t.ok(requests.length + webhooks.length >= 30)
  t.equal(new Set(requests.map(({ name }) => name)).size, requests.length)
  for (const vector of requests) {
    t.strictSame(Object.keys(vector).sort(), [
      'body',
      'bodySha256',
      'canonical',
      'method',
      'name',
      'path',
      'secret',
      'signature',
      'timestamp',
    ])
    t.equal(bodySha256(vector.body), vector.bodySha256)
    t.equal(canonicalString(vector), vector.canonical)
    t.equal(signRequest(vector.secret, vector), vector.signature)
  }
  for (const vector of webhooks) t.equal(signWebhook(vector.secret, vector), vector.signature)
})

t.test('the OpenAPI document has every operation once, and an operationId for every webhook', async (t) => {
  const document = openApiDocument({ baseUrl }) as {
    paths: Record<string, Record<string, { operationId: string }>>
    webhooks: Record<string, { post: { operationId: string } }>
  }
  const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
  t.strictSame(ids.sort(), httpOperations.map(({ id }) => id).sort())
  t.strictSame(
    Object.values(document.webhooks).map(({ post }) => post.operationId),
    publicEventKinds.map((kind) => `webhook_${kind.replaceAll('.', '_')}`),
  )
})

t.test("the team's own codes are in no public document", async (t) => {
  const everything = JSON.stringify(openApiDocument({ baseUrl })) + mainPage()
  const published = new Set<string>(publishedErrorCodes())
  for (const code of Object.keys(errorCatalogue)) {
    if (!published.has(code)) t.notMatch(everything, new RegExp(`\\b${code}\\b`), code)
  }
})

t.test('the collection has every operation, and its scripts compile', async (t) => {
  type Item = { request: { method: string; url: { raw: string } }; event: Script[] }
  type Script = { script: { exec: string[] } }
  const collection = postmanCollection({ baseUrl }) as { event: Script[]; item: { item: Item[] }[] }
  const items = collection.item.flatMap(({ item }) => item)
  const routes = new Set(
    items.map(
      ({ request }) =>
        `${request.method} ${request.url.raw.replace('{{baseUrl}}', '').replace(/\?.*/, '').replaceAll('{{', '{').replaceAll('}}', '}')}`,
    ),
  )
  for (const { http } of httpOperations) t.ok(routes.has(`${http?.method} ${http?.path}`), String(http?.path))
  for (const { event } of items)
    for (const { script } of event) t.doesNotThrow(() => new Function(script.exec.join('\n')))
})

t.test('the page is complete, loads nothing from elsewhere, and its policy forbids it', async (t) => {
  const page = mainPage()
  for (const { id } of httpOperations) t.match(page, `id="${id.toLowerCase()}"`)
  t.notMatch(page, /\{\{\w+\}\}/, 'no placeholder is left')
  for (const [, url] of page.matchAll(/(?:src|href)="(https?:[^"]+)"/g))
    t.match(url, baseUrl, 'a link leads to our own documents only')
  t.notMatch(page, /<script(?![^>]*(src=|application\/json))/)
  t.notMatch(page, / (?:style|on\w+)="/, 'nor anything else that the policy forbids')
  t.match(docsContentSecurityPolicy, "default-src 'none'")
})
