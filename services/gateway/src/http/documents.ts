import { readFile } from 'node:fs/promises'
import { apiPrefix, httpOperations } from '@backoffice/contracts'
import {
  type DocumentFile,
  docsContentSecurityPolicy,
  documentation,
  openApiDocument,
  postmanCollection,
  signingSnippets,
  testVectors,
} from '@backoffice/documents'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { ServedDocument } from './served-document.ts'

type Maker = (options: { readonly baseUrl: string }) => DocumentFile | Promise<DocumentFile>

const json = (value: unknown): DocumentFile => ({
  contentType: 'application/json; charset=utf-8',
  body: Buffer.from(JSON.stringify(value)),
})
const changelogFile = new URL('../../../../CHANGELOG.md', import.meta.url)

/** The public documents by operation id. */
const makers: Readonly<Record<string, Maker | undefined>> = {
  getOpenApi: (options) => json(openApiDocument(options)),
  getPostmanCollection: (options) => json(postmanCollection(options)),
  getSigningSnippets: () => json(signingSnippets()),
  getTestVectors: () => json(testVectors()),
  getChangelog: async () => ({ contentType: 'text/markdown; charset=utf-8', body: await readFile(changelogFile) }),
  getDocs: documentation.get(''),
}

/** The public operations, and what stands below /docs: further pages, and the files of the pages. */
export function documentRoutes(baseUrl: () => string): RouteOptions[] {
  const operations = httpOperations.flatMap(({ audience, http, id }): RouteOptions[] => {
    if (audience !== 'public' || http === undefined) return []
    const make = makers[id]
    if (make === undefined) throw new Error(`no document for ${id}`)
    const handler = serve(make, baseUrl)
    return [{ method: http.method, url: apiPrefix + http.path, config: { operation: id }, handler }]
  })
  const below = Array.from(documentation).flatMap(([path, make]): RouteOptions[] =>
    path === '' ? [] : [{ method: 'GET', url: `${apiPrefix}/docs/${path}`, handler: serve(make, baseUrl) }],
  )
  return [...operations, ...below]
}

/** What a browser may do with a page; it changes nothing for what is no page. */
const pageHeaders = { 'Content-Security-Policy': docsContentSecurityPolicy, 'Referrer-Policy': 'no-referrer' } as const

const maxAgeSeconds = 300
/** Of what has its version in its address. */
const versionedMaxAgeSeconds = 365 * 86_400

/** Makes the document on its first request, and keeps it. */
function serve(make: Maker, baseUrl: () => string) {
  let made: Promise<ServedDocument> | undefined
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    made ??= Promise.resolve(make({ baseUrl: baseUrl() })).then((document) => new ServedDocument(document))
    const document = await made.catch((error: unknown) => {
      // The next request tries again.
      made = undefined
      throw error
    })
    const { encoding, etag, body } = await document.answer(request.headers['accept-encoding'])
    const kept = document.isVersion(request.query)
      ? `public, max-age=${versionedMaxAgeSeconds}, immutable`
      : `public, max-age=${maxAgeSeconds}`
    reply.headers({ ETag: etag, 'Cache-Control': kept, Vary: 'Accept-Encoding' })
    if (document.isPage) reply.headers(pageHeaders)
    if (isNamed(etag, request.headers['if-none-match'])) return reply.code(304).send()
    if (encoding !== 'identity') reply.header('Content-Encoding', encoding)
    return reply.header('Content-Type', document.contentType).send(body)
  }
}

/** A proxy may have made the tag a weak one. For a GET that is the same. */
const isNamed = (etag: string, ifNoneMatch = '') =>
  ifNoneMatch.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
