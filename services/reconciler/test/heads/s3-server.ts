import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** So many names a page, to see that a client asks for the next one. */
const pageMax = 2

export interface S3Server {
  readonly endpoint: string
  /** By key. */
  readonly objects: ReadonlyMap<string, Buffer>
  /** How often something was asked for. */
  readonly requests: { readonly method: string; readonly key: string }[]
  /** Replies 503 to everything as long as it is true. */
  isUnavailable: boolean
  close(): Promise<void>
}

const credentials = { accessKeyId: 'heads', secretAccessKey: 'no secret' }
export const bucket = { bucket: 'heads', region: 'eu-west-1', credentials, prefix: 'backoffice/' }

/**
 * Object storage over HTTP, as far as heads need it: PUT with If-None-Match, GET, ListObjectsV2 with pages, each request
 * signed with AWS Signature Version 4. An object that is there is never changed and never removed, as under a lock.
 */
export async function startS3(): Promise<S3Server> {
  const objects = new Map<string, Buffer>()
  const requests: { method: string; key: string }[] = []
  const state = { isUnavailable: false }
  const server = createServer(async (request, reply) => {
    const body = Buffer.concat(await request.toArray())
    const url = new URL(request.url ?? '', 'http://storage')
    const [, name, ...path] = url.pathname.split('/').map(decodeURIComponent)
    const key = path.join('/')
    requests.push({ method: request.method ?? '', key })
    if (state.isUnavailable) return fault(reply, 503, 'SlowDown')
    if (!isSigned(request, url, body)) return fault(reply, 403, 'SignatureDoesNotMatch')
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(state, {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
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

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
/** As a canonical request writes it. */
const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

function isSigned({ method, headers }: IncomingMessage, url: URL, body: Buffer): boolean {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)$/
  const [, id, day = '', region = '', names = '', signature = ''] = form.exec(headers.authorization ?? '') ?? []
  if (id !== credentials.accessKeyId || region !== bucket.region) return false
  if (headers['x-amz-content-sha256'] !== sha256(body)) return false
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort()
  const canonical = [
    method,
    url.pathname
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    query.join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce(
    (key: string | Buffer, part) => hmac(key, part),
    `AWS4${credentials.secretAccessKey}`,
  )
  const expected = hmac(key, text)
  const given = Buffer.from(signature, 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
