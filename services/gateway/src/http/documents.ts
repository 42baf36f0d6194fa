import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { apiPrefix, httpOperations } from '@backoffice/contracts'
import {
  docsAssets,
  docsContentSecurityPolicy,
  docsPage,
  docsPages,
  openApiDocument,
  postmanCollection,
  signingSnippets,
  testVectors,
} from '@backoffice/documents'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

interface Document {
  readonly contentType: string
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

const json = (value: unknown): Document => ({
  contentType: 'application/json; charset=utf-8',
  body: Buffer.from(JSON.stringify(value)),
})
const changelogFile = new URL('../../../../CHANGELOG.md', import.meta.url)

/** The public documents by operation id; each is made on its first request and then kept. */
const makers: Readonly<Record<string, (options: { readonly baseUrl: string }) => Document | Promise<Document>>> = {
  getOpenApi: (options) => json(openApiDocument(options)),
  getPostmanCollection: (options) => json(postmanCollection(options)),
  getSigningSnippets: () => json(signingSnippets()),
  getTestVectors: () => json(testVectors()),
  getChangelog: async () => ({ contentType: 'text/markdown; charset=utf-8', body: await readFile(changelogFile) }),
  getDocs: (options) => page(docsPage(options)),
}

const page = (html: string): Document => ({
  contentType: 'text/html; charset=utf-8',
  body: Buffer.from(html),
  headers: { 'Content-Security-Policy': docsContentSecurityPolicy, 'Referrer-Policy': 'no-referrer' },
})

/** The public routes, and the page's own files below /docs/assets/. */
export function documentRoutes(baseUrl: () => string): RouteOptions[] {
  const made = new Map<string, Document | Promise<Document>>()
  const documents = httpOperations.flatMap(({ audience, http, id }): RouteOptions[] => {
    if (audience !== 'public' || http === undefined) return []
    const make = makers[id]
    if (make === undefined) throw new Error(`no document for ${id}`)
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const document = made.get(id) ?? make({ baseUrl: baseUrl() })
      made.set(id, document)
      return serve(request, reply, await document)
    }
    return [{ method: http.method, url: apiPrefix + http.path, config: { operation: id }, handler }]
  })
  const assets = Object.entries(docsAssets).map(
    ([name, asset]): RouteOptions => ({
      method: 'GET',
      url: `${apiPrefix}/docs/assets/${name}`,
      handler: async (request, reply) => serve(request, reply, asset),
    }),
  )
  const pages = Object.keys(docsPages).map((path): RouteOptions => {
    let made: Document | undefined
    return {
      method: 'GET',
      url: `${apiPrefix}/docs/${path}`,
      handler: async (request, reply) => {
        made ??= page(docsPage({ baseUrl: baseUrl(), path: path as keyof typeof docsPages }))
        return serve(request, reply, made)
      },
    }
  })
  return [...documents, ...assets, ...pages]
}

const maxAgeSeconds = 300
const etags = new WeakMap<Document, string>()

function serve(request: FastifyRequest, reply: FastifyReply, document: Document): FastifyReply {
  let etag = etags.get(document)
  if (etag === undefined) {
    etag = `"${createHash('sha256').update(document.body).digest('base64url')}"`
    etags.set(document, etag)
  }
  reply.headers({
    ETag: etag,
    'Cache-Control': `public, max-age=${maxAgeSeconds}`,
    'X-Content-Type-Options': 'nosniff',
    ...document.headers,
  })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  return reply.header('Content-Type', document.contentType).send(document.body)
}
