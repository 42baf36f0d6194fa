import type { ServerResponse } from 'node:http'
import { serveHttp, type Teardown } from '@backoffice/test-kit'

/** So many names a page, to see that a client asks for the next one. */
const pageMax = 2

const credentials = { accessKeyId: 'heads', secretAccessKey: 'no secret' }
export const bucket = { bucket: 'heads', region: 'eu-west-1', credentials, prefix: 'backoffice/' }

/**
 * Object storage over HTTP, as far as heads need it: PUT with If-None-Match, GET, ListObjectsV2 with pages, for whoever names
 * the key. An object that is there is never changed and never removed, as under a lock.
 */
export async function startS3(t: Teardown) {
  const objects = new Map<string, Buffer>()
  // Replies 503 to everything as long as it is true.
  const state = { isUnavailable: false }
  const endpoint = await serveHttp(t, async (request, reply) => {
    const body = Buffer.concat(await request.toArray())
    const url = new URL(request.url ?? '', 'http://storage')
    const [, name, ...path] = url.pathname.split('/').map(decodeURIComponent)
    const key = path.join('/')
    if (state.isUnavailable) return fault(reply, 503, 'SlowDown')
    const signed = `Credential=${credentials.accessKeyId}/\\d{8}/${bucket.region}/s3/aws4_request, ?.*Signature=`
    if (!new RegExp(signed).test(request.headers.authorization ?? '')) return fault(reply, 403, 'InvalidAccessKeyId')
    if (name !== bucket.bucket) return fault(reply, 404, 'NoSuchBucket')
    if (request.method === 'PUT') {
      if (request.headers['if-none-match'] !== '*') return fault(reply, 403, 'AccessDenied')
      if (objects.has(key)) return fault(reply, 412, 'PreconditionFailed')
      objects.set(key, body)
      return void reply.setHeader('ETag', '"etag"').end()
    }
    if (request.method !== 'GET') return fault(reply, 405, 'MethodNotAllowed')
    if (key === '') return list(reply, url.searchParams, [...objects.keys()].sort())
    const object = objects.get(key)
    return object === undefined ? fault(reply, 404, 'NoSuchKey') : void reply.end(object)
  })
  return Object.assign(state, { endpoint, objects })
}

function fault(reply: ServerResponse, status: number, code: string): void {
  reply.writeHead(status, { 'content-type': 'application/xml' })
  reply.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`)
}

function list(reply: ServerResponse, query: URLSearchParams, keys: readonly string[]): void {
  const after = query.get('continuation-token') ?? query.get('start-after') ?? ''
  const found = keys.filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
  const page = found.slice(0, pageMax)
  const next = found.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
  reply.writeHead(200, { 'content-type': 'application/xml' })
  reply.end(`<?xml version="1.0"?><ListBucketResult><IsTruncated>${next !== ''}</IsTruncated>${next}
    ${page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')}</ListBucketResult>`)
}
