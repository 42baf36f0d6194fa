import { createHash, createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Operation } from '@backoffice/contracts'
import { patiently } from '@backoffice/process'
import type { Body, HostileRequest } from './hostile-requests.ts'

export interface Sender {
  readonly host: string
  /** Of every path, in each environment. */
  readonly prefixes: Readonly<Record<'sandbox' | 'production', string>>
  readonly keyHeader: 'X-Operator-Key' | 'X-Provider-Key'
  readonly credentials: Readonly<Record<'sandbox' | 'production', { readonly key: string; readonly secret: string }>>
  /** Records that exist, by the name of a path's parameter or a body's field. */
  readonly ids: Readonly<Record<string, string>>
  /** New for each request: what must be unique in a creation, and the Idempotency-Key. */
  readonly fresh: string
}

export interface HostileBytes {
  readonly method: string
  readonly target: string
  readonly bytes: Buffer
  /** False when, by what the request says of itself, more of it must follow. */
  readonly isWhole: boolean
}

/** A request as bytes. It is signed over what it says, so that what is wrong with it is what is looked at. */
export function bytesOf(request: HostileRequest, operation: Operation, sender: Sender): HostileBytes {
  const { framing, headers: changes } = request
  const method = request.method ?? operation.http?.method ?? 'GET'
  const path = `${sender.prefixes[request.environment]}${pathOf(request, operation, sender)}${request.tail}${queryOf(request, operation)}`
  const target = framing === 'absolute target' ? `http://${sender.host}${path}` : path
  const body = operation.hasBody || request.body.is === 'bytes' ? bodyOf(request, operation, sender) : Buffer.alloc(0)

  const headers = new Map<string, string>()
  const { key, secret } = sender.credentials[request.environment]
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const digest = createHash('sha256').update(body).digest('hex')
  const canonical = [method, path, timestamp, digest].join('\n')
  headers.set(sender.keyHeader, key)
  headers.set('X-Timestamp', timestamp)
  if (request.signature !== 'none')
    headers.set(
      'X-Signature',
      createHmac('sha256', request.signature === 'right' ? secret : key)
        .update(canonical)
        .digest('hex'),
    )
  if (method === 'POST') headers.set('Idempotency-Key', sender.fresh)
  if (body.length > 0) headers.set('Content-Type', 'application/json')
  const others: (readonly [string, string])[] = []
  for (const { name, value, twice } of changes) {
    if (value === null) headers.delete(name)
    else if (twice) others.push([name, value])
    else headers.set(name, value)
  }
  const version = framing === 'HTTP/1.0' || framing === 'HTTP/9.9' ? framing : 'HTTP/1.1'
  const lines = [
    `${method} ${target} ${version}`,
    ...(framing === 'no Host' ? [] : [`Host: ${sender.host}`]),
    'Connection: close',
    ...[...headers, ...others].map(([name, value]) => `${name}: ${value}`),
    ...lengthLines(framing, body.length, method),
  ]
  const lineEnd = framing === 'bare line feeds' ? '\n' : '\r\n'
  const head = Buffer.from(lines.join(lineEnd) + lineEnd + lineEnd)
  const isChunked = framing === 'chunked' || framing === 'length and chunked'
  const whole = Buffer.concat([head, isChunked ? chunked(body) : body])
  switch (framing) {
    case 'more bytes after it': {
      const more = Buffer.from('GET /api/v1/me HTTP/1.1\r\n\r\n\u0000{}')
      return { method, target, bytes: Buffer.concat([whole, more]), isWhole: true }
    }
    case 'cut':
      return { method, target, bytes: whole.subarray(0, Math.floor(whole.length * 0.8)), isWhole: false }
    default: {
      // Without a length, a Transfer-Encoding promises a body.
      const promisesBody = changes.some(({ name, value }) => name === 'Transfer-Encoding' && value !== null)
      const endsLater = framing === 'length too long' || (promisesBody && method === 'GET')
      return { method, target, bytes: whole, isWhole: !endsLater }
    }
  }
}

const lengthLines = (framing: HostileRequest['framing'], length: number, method: string): string[] => {
  const right = `Content-Length: ${length}`
  switch (framing) {
    case 'chunked':
      return ['Transfer-Encoding: chunked']
    case 'length and chunked':
      return [right, 'Transfer-Encoding: chunked']
    case 'two lengths':
      return [right, `Content-Length: ${length + 1}`]
    case 'length too short':
      return [`Content-Length: ${Math.max(length - 1, 0)}`]
    case 'length too long':
      return [`Content-Length: ${length + 1}`]
    default:
      return method === 'GET' && length === 0 ? [] : [right]
  }
}

const chunked = (body: Buffer): Buffer =>
  Buffer.concat([
    ...(body.length === 0 ? [] : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]),
    Buffer.from('0\r\n\r\n'),
  ])

function pathOf({ id }: HostileRequest, operation: Operation, { ids }: Sender): string {
  const path = operation.http?.path ?? ''
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (id !== null) return id.encoded ? encodeURIComponent(id.text.toWellFormed()) : id.text
    return ids[name] ?? operation.example?.params?.[name] ?? 'unknown'
  })
}

function queryOf({ query }: HostileRequest, operation: Operation): string {
  const parameters = Object.entries(operation.example?.query ?? {})
  if (query?.is === 'text') return `?${query.text}`
  if (query?.is === 'parameter') {
    const names = Object.keys(operation.query.properties)
    const name = names[query.which % names.length] ?? 'unknown'
    const copies = Array.from({ length: query.copies }, () => [name, query.text] as [string, string])
    return written([...parameters.filter(([other]) => other !== name), ...copies])
  }
  return parameters.length === 0 ? '' : written(parameters)
}

const written = (parameters: readonly (readonly [string, string])[]) =>
  `?${parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`).join('&')}`

/** A field's name and the text of its value. */
type Field = readonly [name: string, json: string]

function bodyOf({ body }: HostileRequest, operation: Operation, { fresh, ids }: Sender): Buffer {
  if (body.is === 'bytes') return Buffer.from(body.bytes)
  const example = Object.entries((operation.example?.body ?? {}) as Record<string, unknown>)
  const fields = example.map(
    ([name, value]): Field => [
      name,
      JSON.stringify(ids[name] ?? (isFree(operation, name) ? `${value} ${fresh}` : value)),
    ],
  )
  const text = `{${changed(fields, body)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`
  return Buffer.from(body.is === 'cut' ? text.slice(0, Math.floor((text.length * body.part) / 100)) : text)
}

/** A text of any kind and a fair length, such as an id of the operator's own. */
function isFree({ body }: Operation, name: string): boolean {
  const schema = body.properties[name]
  if (schema?.type !== 'string' || schema.pattern !== undefined || schema.format !== undefined) return false
  return (schema.maxLength ?? 0) >= 128
}

function changed(fields: readonly Field[], body: Exclude<Body, { is: 'bytes' }>): Field[] {
  if (body.is === 'example' || body.is === 'cut') return [...fields]
  if (body.is === 'another field') return [...fields, [body.name, body.json]]
  const at = body.which % Math.max(fields.length, 1)
  const name = fields[at]?.[0] ?? 'unknown'
  switch (body.is) {
    case 'no field':
      return fields.filter((_, index) => index !== at)
    case 'field':
      return fields.map((field, index) => (index === at ? [name, body.json] : field))
    case 'field twice':
      return [...fields, [name, body.json]]
    default:
      return body satisfies never
  }
}

/** One HTTP response as it came over the wire. */
export interface RawResponse {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

const silenceMsMax = patiently(60_000)

/**
 * Sends bytes over a connection of their own, exactly as they are: any client would tidy them up.
 * @param options.isWhole false for a request that ends too early. The connection is then half closed, so that the
 *   server need not wait for the rest
 * @param options.hasBody false for a response that has none, as that to HEAD
 * @param options.from which address of this machine; 127.0.0.1 when left out
 * @returns null when the server closed the connection without a response
 * @throws when the server says nothing at all
 */
export function exchange(
  port: number,
  bytes: Buffer,
  { isWhole, hasBody, from }: { readonly isWhole: boolean; readonly hasBody: boolean; readonly from?: string },
): Promise<RawResponse | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port, ...(from === undefined ? {} : { localAddress: from }) }, () =>
      isWhole ? socket.write(bytes) : socket.end(bytes),
    )
    const settle = (response: RawResponse | null) => {
      resolve(response)
      socket.destroy()
    }
    socket.setTimeout(silenceMsMax, () => {
      reject(new Error(`the server was silent for ${silenceMsMax} ms`))
      socket.destroy()
    })
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      const response = readResponse(Buffer.concat(chunks), hasBody)
      if (response !== null) settle(response)
    })
    // The server may close while the rest of a large request is still on its way.
    socket.on('error', () => settle(readResponse(Buffer.concat(chunks), hasBody)))
    socket.on('close', () => settle(readResponse(Buffer.concat(chunks), hasBody)))
  })
}

/** The first final response in these bytes, once all of it has come. */
function readResponse(bytes: Buffer, hasBody: boolean): RawResponse | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
  // 100 Continue comes before the response.
  if (status < 200) return readResponse(bytes.subarray(end + 4), hasBody)
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const length = hasBody && status !== 304 ? Number(headers['content-length'] ?? 0) : 0
  const body = bytes.subarray(end + 4)
  if (body.length < length) return null
  return { status, headers, text: decoded(body.subarray(0, length), headers['content-encoding']).toString() }
}

/** A document is compressed for whoever accepts that. */
function decoded(body: Buffer, encoding: string | undefined): Buffer {
  if (body.length === 0) return body
  return encoding === 'gzip' ? gunzipSync(body) : encoding === 'br' ? brotliDecompressSync(body) : body
}
