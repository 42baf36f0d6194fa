import { readFileSync } from 'node:fs'
import {
  canonicalString,
  errorCatalogue,
  errorDetails,
  eventEnvelope,
  httpOperations,
  type Operation,
  operations,
  publicErrorCodes,
  publicEventKinds,
  signRequest,
  signWebhook,
} from '@backoffice/contracts'
import type { TSchema } from '@sinclair/typebox'
import t from 'tap'
import {
  documentation,
  languages,
  openApiDocument,
  operators,
  postmanCollection,
  providerSnippet,
  providers,
  providerTestVectors,
  testVectors,
} from '../src/index.ts'
import { docsContentSecurityPolicy } from '../src/served.ts'

const baseUrl = 'https://backoffice.example.org/api/v1'
const mainPage = () => String(documentation.get('')?.({ baseUrl }).body)

t.test('there are at least 30 vectors, with names of their own and all that a signer needs', async (t) => {
  const { requests, webhooks } = testVectors()
  t.ok(requests.length + webhooks.length >= 30)
  for (const vectors of [requests, providerTestVectors().requests]) {
    t.equal(new Set(vectors.map(({ name }) => name)).size, vectors.length)
    for (const vector of vectors)
      t.equal(
        Object.keys(vector).sort().join(),
        'body,bodySha256,canonical,method,name,path,secret,signature,timestamp',
      )
  }
  for (const { method, path } of providerTestVectors().requests)
    t.match(`${method} ${path}`, /^(GET|POST) \/provider\/v1\/brd_/)
})

t.test('every program that signs does so for a provider, too: only names differ', async (t) => {
  for (const { id } of languages) {
    const code = providerSnippet(id)
    t.match(code, 'X-Provider-Key', id)
    t.match(code, 'PROVIDER_SECRET', id)
    t.match(code, '/provider/v1/{brandId} prefix', id)
    t.notMatch(code, /operator|bk_|\/api\/v1|\/players/i, id)
  }
})

t.test('the OpenAPI document has every operation once, and an operationId for every webhook', async (t) => {
  const document = openApiDocument({ baseUrl }) as {
    paths: Record<string, Record<string, { operationId: string }>>
    webhooks: Record<string, { post: { operationId: string } }>
  }
  const idsOf = ({ paths }: Pick<typeof document, 'paths'>) =>
    Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
  t.strictSame(idsOf(document).sort(), httpOperations.map(({ id }) => id).sort())
  const providersPaths = openApiDocument({ baseUrl, surface: providers }) as typeof document
  t.strictSame(idsOf(providersPaths).sort(), providers.operations.map(({ id }) => id).sort())
  t.strictSame(
    Object.values(document.webhooks).map(({ post }) => post.operationId),
    publicEventKinds.map((kind) => `webhook_${kind.replaceAll('.', '_')}`),
  )
})

// biome-ignore lint/suspicious/noExplicitAny: any part of a document
type Part = any
const referred = (document: Part, reference: string): Part =>
  reference.split('/').reduce((place, name) => (name === '#' ? document : place[name]), document)
/** The responses of an operation, each as it stands or where it is referred to. */
const responsesOf = (document: Part, responses: Readonly<Record<string, Part>>): Record<string, Part> =>
  Object.fromEntries(
    Object.entries(responses).map(([status, one]) => [status, one.$ref ? referred(document, one.$ref) : one]),
  )

t.test('what is sent to operators may gain fields, and what they send has those that are named', async (t) => {
  interface Schema extends Record<string, unknown> {
    readonly $ref?: string
    readonly additionalProperties?: boolean
  }
  for (const surface of [operators, providers]) {
    const document = JSON.parse(JSON.stringify(openApiDocument({ baseUrl, surface })))
    /** Every object below a place, with what it leads to. */
    const closedIn = (place: unknown, seen = new Set<string>()): string[] => {
      if (typeof place !== 'object' || place === null) return []
      const { $ref, additionalProperties, ...rest } = place as Schema
      const found = additionalProperties === false ? [[...seen].at(-1) ?? 'here'] : []
      if ($ref !== undefined && !seen.has($ref))
        found.push(...closedIn(referred(document, $ref), new Set([...seen, $ref])))
      return [...found, ...Object.values(rest).flatMap((value) => closedIn(value, seen))]
    }
    const routes = Object.values(document.paths as Record<string, Record<string, Schema>>).flatMap(Object.values)
    for (const { operationId, requestBody, responses } of routes) {
      t.equal(closedIn(responses).length > 0, operationId === 'getMe', `replies of ${operationId}`)
      // A body that has no name of its own takes whatever is sent.
      if (JSON.stringify(requestBody)?.includes('$ref'))
        t.ok(closedIn(requestBody).length > 0, `requests of ${operationId}`)
    }
    for (const { post } of Object.values((document.webhooks ?? {}) as Record<string, { post: Schema }>))
      t.same(closedIn(post.requestBody), [], String(post.operationId))
  }
})

t.test('an operation that is to end is marked in the OpenAPI document', async (t) => {
  const entry: { deprecated?: Operation['deprecated'] } = operations.wallet.getWallet
  entry.deprecated = { since: '2027-01-01', sunset: '2027-07-01' }
  t.teardown(() => delete entry.deprecated)
  const { paths } = JSON.parse(JSON.stringify(openApiDocument({ baseUrl })))
  t.match(paths['/players/{playerId}/wallet'].get, { deprecated: true, description: /ends on 2027-07-01/ })
  t.equal(paths['/me'].get.deprecated, undefined)
})

for (const surface of [operators, providers])
  t.test(
    `an error response of ${surface.name} names its codes, and no others: in its schema as in its examples`,
    async (t) => {
      const document = JSON.parse(JSON.stringify(openApiDocument({ baseUrl, surface })))
      const { paths, components } = document
      const codesOf = (error: { $ref?: string; discriminator?: { mapping: Record<string, string> } }): string[] => {
        const mapping = error.discriminator?.mapping ?? { only: error.$ref ?? '' }
        return Object.values(mapping).flatMap(
          ($ref) => components.schemas[$ref.split('/').at(-1) ?? ''].properties.code.enum,
        )
      }
      for (const [path, methods] of Object.entries<Record<string, { responses: object }>>(paths)) {
        for (const { responses } of Object.values(methods)) {
          for (const [status, response] of Object.entries(responsesOf(document, responses))) {
            if (Number(status) < 400) continue
            const { schema, examples } = response.content['application/json']
            t.strictSame(codesOf(schema.properties.error), Object.keys(examples), `${path} ${status}`)
          }
        }
      }
    },
  )

t.test('each error of a provider says whether to ask again', async (t) => {
  const { components } = JSON.parse(JSON.stringify(openApiDocument({ baseUrl, surface: providers })))
  const errors = Object.entries<Part>(components.schemas).filter(([name]) => name.endsWith('Error'))
  t.ok(errors.length > 25)
  for (const [name, { properties }] of errors) {
    t.ok(properties.details.required.includes('retry'), name)
    const [code] = properties.code.enum
    const { retry } = providers.errors.get(code) ?? {}
    t.equal(properties.details.properties.retry.const, retry, name)
    t.equal(components.examples[code].value.error.details.retry, retry, name)
  }
})

t.test('a refusal has the headers that it is sent with, and a 400 for its HTTP at every operation', async (t) => {
  const document = JSON.parse(JSON.stringify(openApiDocument({ baseUrl })))
  for (const { id, http, idempotency } of httpOperations) {
    const operation = document.paths[http?.path ?? ''][http?.method.toLowerCase() ?? '']
    const responses = responsesOf(document, operation.responses)
    t.ok('VALIDATION_ERROR' in responses[400].content['application/json'].examples, id)
    const replayed = Object.keys(responses).filter((status) => 'Idempotent-Replayed' in responses[status].headers)
    if (idempotency !== 'required') t.same(replayed, [], id)
    else t.ok(['404', '409', '422'].some((status) => replayed.includes(status)) && replayed.includes('422'), id)
    for (const status of ['400', '401', '413', '429', '500', '503'])
      t.notOk(replayed.includes(status), `${id} ${status}`)
  }
})

t.test('the document without samples has all the rest, and no schema hides a name of JavaScript', async (t) => {
  const [whole, bare] = [openApiDocument({ baseUrl }), openApiDocument({ baseUrl, samples: false })]
  const without = JSON.stringify(whole, (key, value) => (key === 'x-codeSamples' ? undefined : value))
  t.equal(JSON.stringify(bare), without)
  t.ok(without.length < JSON.stringify(whole).length * 0.6)
  const { schemas } = whole.components as { schemas: object }
  t.same(
    Object.keys(schemas).filter((name) => name in globalThis),
    [],
  )
})

t.test("the team's own codes are in no public document", async (t) => {
  const everything =
    JSON.stringify([openApiDocument({ baseUrl }), openApiDocument({ baseUrl, surface: providers })]) + mainPage()
  const published = new Set<string>([...publicErrorCodes, ...providers.errors.keys()])
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
  for (const { id, audience, http } of httpOperations) {
    t.match(page, `id="${id.toLowerCase()}"`)
    if (audience === 'public') t.match(page, `href="${baseUrl}${http?.path}"`, 'what is public is a click away')
  }
  t.notMatch(page, /\{\{\w+\}\}/, 'no placeholder is left')
  for (const [, url] of page.matchAll(/(?:src|href)="(https?:[^"]+)"/g))
    t.match(url, baseUrl, 'a link leads to our own documents only')
  t.notMatch(page, /<script(?![^>]*(src=|application\/json))/)
  t.notMatch(page, / (?:style|on\w+)="/, 'nor anything else that the policy forbids')
  t.match(docsContentSecurityPolicy, "default-src 'none'")
})

/** Fields whose values need no explanation. */
const isPlain = (path: string) => /details\.(in|signature)$/.test(path)

t.test('every field that an operator reads or writes says what it means', async (t) => {
  const described = (schema: TSchema, path: string): void => {
    const { anyOf = [], items, properties = {} } = schema
    const inner = anyOf.find(({ type }: TSchema) => type !== 'null')
    const explains = [schema, items, inner].some((part) => part?.description !== undefined)
    // An object is explained by its fields.
    t.ok(explains || schema.type === 'object' || !path.includes('.'), path)
    if (inner?.const !== undefined && !isPlain(path))
      for (const value of anyOf) t.ok(value.description, `${path} ${value.const}`)
    for (const [name, field] of Object.entries(properties)) described(field as TSchema, `${path}.${name}`)
    if (items !== undefined) described(items, `${path}[]`)
  }
  for (const { id, params, query, body, reply } of [...httpOperations, ...providers.operations])
    for (const part of [params, query, body, reply]) described(part, id)
  for (const kind of publicEventKinds) described(eventEnvelope(kind), kind)
  for (const [code, { schema }] of Object.entries(errorDetails)) described(schema, `${code} details`)
})

t.test('the delivery that the page shows verifies with the secret beside it, as its text is copied', async (t) => {
  const shown = mainPage()
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
  const [, secret = ''] = /with the secret (whsec_\w+)/.exec(shown) ?? []
  const [, timestamp = ''] = /X-Webhook-Timestamp: (\d+)\n/.exec(shown) ?? []
  const [, signature] = /X-Webhook-Signature: ([0-9a-f]{64})\n/.exec(shown) ?? []
  const [body = ''] = /(?<=\n\n)\{"id":"evt_.+(?=\n)/.exec(shown) ?? []
  t.equal(signWebhook(secret, { timestamp, body }), signature)
  t.match(JSON.parse(body), { id: /^evt_/, type: 'withdrawal.status_changed', data: { status: 'approved' } })
  t.ok(testVectors().webhooks.some((vector) => vector.body === body && vector.signature === signature))
})

t.test('the canonical string that the page shows has the signature below it', async (t) => {
  const guide = readFileSync(new URL('../../../docs/guide.md', import.meta.url), 'utf8')
  const [, body = '', secret = ''] = /In the example the body is `(.*?)`, and the secret `(.*?)`/.exec(guide) ?? []
  const [canonical = '', signature] = [...guide.matchAll(/```text\n(.*?)\n```/gs)].map(([, text]) => text)
  const [method = '', path = '', timestamp = ''] = canonical.split('\n')
  const request = { method, path, timestamp, body }
  t.equal(canonicalString(request), canonical)
  t.equal(signRequest(secret, request), signature)
})
