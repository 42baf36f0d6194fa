import { apiPrefix, httpOperations } from '@backoffice/contracts'
import { type DocumentFile, docsContentSecurityPolicy, documentPaths } from '@backoffice/documents/served'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { DocumentThread } from './document-thread.ts'
import { ServedDocument } from './served-document.ts'

/** The public operations, and what stands below /docs: further pages, and the files of the pages. */
export function documentRoutes(baseUrl: () => string): RouteOptions[] {
  const thread = new DocumentThread()
  const route = (path: string, name = path): RouteOptions => {
    const make = () => thread.make({ name, baseUrl: baseUrl() })
    return { method: 'GET', url: apiPrefix + path, handler: serve(make) }
  }
  const operations = httpOperations.flatMap(({ audience, http, id }): RouteOptions[] =>
    audience !== 'public' || http === undefined ? [] : [{ ...route(http.path, id), config: { operation: id } }],
  )
  // The main page is one of the operations.
  const below = documentPaths.filter((path) => path !== '').map((path) => route(`/docs/${path}`))
  return [...operations, ...below]
}

/** What a browser may do with a page; it changes nothing for what is no page. */
const pageHeaders = { 'Content-Security-Policy': docsContentSecurityPolicy, 'Referrer-Policy': 'no-referrer' } as const

const maxAgeSeconds = 300
/** For a file whose version is in its address. */
const versionedMaxAgeSeconds = 365 * 86_400

/** Makes the document on its first request, and keeps it. */
function serve(make: () => Promise<DocumentFile>) {
  let made: Promise<ServedDocument> | undefined
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    made ??= make().then((document) => new ServedDocument(document))
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
