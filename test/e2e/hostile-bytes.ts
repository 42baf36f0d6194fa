import { createHash, createHmac } from 'node:crypto'
import { apiPrefix, type Operation } from '@backoffice/contracts'
import type { Body, HostileRequest } from './hostile-requests.ts'

export interface Sender {
  readonly host: string
  readonly credentials: Readonly<Record<'sandbox' | 'production', { readonly key: string; readonly secret: string }>>
  /** Records that exist, by the name of a path's parameter. */
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
  const path = `${apiPrefix}${pathOf(request, operation, sender)}${request.tail}${queryOf(request, operation)}`
  const target = framing === 'absolute target' ? `http://${sender.host}${path}` : path
  const body = operation.hasBody || request.body.is === 'bytes' ? bodyOf(request, operation, sender) : Buffer.alloc(0)

  const headers = new Map<string, string>()
  const { key, secret } = sender.credentials[request.environment]
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const digest = createHash('sha256').update(body).digest('hex')
  const canonical = [method, path, timestamp, digest].join('\n')
  headers.set('X-Operator-Key', key)
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

function bodyOf({ body }: HostileRequest, operation: Operation, { fresh }: Sender): Buffer {
  if (body.is === 'bytes') return Buffer.from(body.bytes)
  const example = Object.entries((operation.example?.body ?? {}) as Record<string, unknown>)
  const fields = example.map(
    ([name, value]): Field => [name, JSON.stringify(isFree(operation, name) ? `${value} ${fresh}` : value)],
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
