import { createHash, createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, METHODS, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { Agent, request } from 'undici'
import type { Teardown } from './started.ts'

/** Serves on a free port of loopback until `t` ends. @returns the address, without a path */
export async function serveHttp(t: Teardown, answer: RequestListener): Promise<string> {
  // None ends a connection that waits: a client that asks at that moment would be refused, by the clock alone.
  const server = createServer({ keepAliveTimeout: 0 }, answer)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A delivery as an operator's server sees it. */
export interface Received {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly signatures: string
  readonly body: string
  readonly path: string
  readonly atMs: number
}

type Answer = (response: ServerResponse, delivery: Received, request: IncomingMessage) => void

export const acknowledge: Answer = (response) => {
  response.writeHead(204).end()
}
export const replyWith =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, headers).end(`this is ${code}`)
  }

/** An operator's server for webhooks, on loopback. What it received is kept before it answers. */
export async function startReceiver(
  t: Teardown,
  answer: Answer = acknowledge,
): Promise<{ readonly url: string; readonly received: readonly Received[]; readonly close: () => unknown }> {
  const received: Received[] = []
  let close = (): unknown => undefined
  const ending: Teardown = {
    teardown(end) {
      close = end
      t.teardown(end)
    },
  }
  const url = await serveHttp(ending, async (request, response) => {
    // The sender may die in the middle of its request.
    const body = await text(request).catch(() => undefined)
    if (body === undefined) return
    const header = (name: string) => String(request.headers[`x-webhook-${name}`] ?? '')
    const delivery = {
      id: header('id'),
      timestamp: header('timestamp'),
      signature: header('signature'),
      signatures: header('signatures'),
      body,
      path: request.url ?? '',
      atMs: performance.now(),
    }
    received.push(delivery)
    answer(response, delivery, request)
  })
  return { url: `${url}/hook`, received, close }
}

/** A verifier written from the specification alone. */
export function verifies({ timestamp, body, signature }: Received, secret: string): boolean {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex') === signature
}

/** One HTTP reply, with its bytes. */
export interface HttpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body as JSON, or undefined when it is not. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly body: any
  readonly bytes: Buffer
}

export interface HttpCall {
  /** Sent as JSON; a string or bytes are sent as they are. */
  readonly body?: unknown
  /** Made anew for each call when left out; null sends none. */
  readonly idempotencyKey?: string | null
  /** Epoch seconds; now when left out. */
  readonly timestamp?: number
  /** Replace the usual headers; null leaves a header out. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** Hangs up when it fires, whatever the gateway is doing. */
  readonly signal?: AbortSignal
}

/**
 * An operator's server, written from the specification alone: it signs with Node's own crypto and shares no code with
 * the services.
 */
export class OperatorClient {
  readonly #baseUrl: URL
  readonly #credentials: { readonly key: string; readonly secret: string }
  readonly #agent: Agent

  constructor(baseUrl: string, credentials: { readonly key: string; readonly secret: string }, connections = 64) {
    this.#baseUrl = new URL(baseUrl)
    this.#credentials = credentials
    this.#agent = new Agent({ connections, pipelining: 1 })
  }

  get(path: string, call: HttpCall = {}): Promise<HttpReply> {
    return this.send('GET', path, call)
  }

  post(path: string, body: unknown = {}, call: HttpCall = {}): Promise<HttpReply> {
    return this.send('POST', path, { body, ...call })
  }

  /** @param path relative to the base URL, with its query string */
  async send(method: string, path: string, call: HttpCall = {}): Promise<HttpReply> {
    const fullPath = `${this.#baseUrl.pathname}${path}`
    const body = bytesOf(call.body)
    const answer = await request(`${this.#baseUrl.origin}${fullPath}`, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: this.#headers(method, fullPath, body, call),
      body: method === 'GET' ? null : body,
      signal: call.signal ?? null,
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers, body: jsonOf(bytes), bytes }
  }

  close(): Promise<void> {
    return this.#agent.close()
  }

  #headers(method: string, fullPath: string, body: Buffer, call: HttpCall): Record<string, string> {
    const timestamp = String(call.timestamp ?? Math.floor(Date.now() / 1000))
    const digest = createHash('sha256').update(body).digest('hex')
    const canonical = [method, fullPath, timestamp, digest].join('\n')
    const key = call.idempotencyKey === undefined ? randomUUID() : call.idempotencyKey
    const headers: Record<string, string | null> = {
      'X-Operator-Key': this.#credentials.key,
      'X-Timestamp': timestamp,
      'X-Signature': createHmac('sha256', this.#credentials.secret).update(canonical).digest('hex'),
      'Content-Type': method === 'POST' ? 'application/json' : null,
      'Idempotency-Key': method === 'POST' ? key : null,
      ...call.headers,
    }
    return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null))
  }
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

const lanes = 4

/**
 * `Promise.all(items.map(work))`, a few at a time. The last of many calls at once waits for all others, and on a slow
 * machine its limit passes meanwhile.
 */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const lane = async () => {
    for (const [index, item] of waiting) results[index] = await work(item, index)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}

const bodies: readonly (readonly string[])[] = [
  ['', ''],
  ['Content-Length: 2', '', '{}'],
  ['Content-Type: application/json', 'Content-Length: 2', '', '{}'],
  ['Content-Type: application/json', 'Content-Length: 1', '', '{'],
  ['Content-Type: ;', 'Content-Length: 2', '', '{}'],
  ['Content-Length: 2000', '', 'x'.repeat(2000)],
  ['Transfer-Encoding: chunked', '', '2\r\n{}\r\n0\r\n\r\n'],
  ['Transfer-Encoding: gzip, chunked', '', '0\r\n\r\n'],
]

/**
 * Sends every method that Node reads, with every form of a body, to each path.
 * @param headers that each request has
 * @returns what was answered otherwise than by a status below 500
 */
export async function answeredAsFaults(
  url: string,
  paths: readonly string[],
  headers: readonly string[] = [],
): Promise<readonly string[]> {
  const port = Number(new URL(url).port)
  const answer = (lines: readonly string[]) =>
    new Promise<string>((resolve) => {
      let text = ''
      // Not ended: Node closes a connection whose other side is, also before it has answered.
      const socket = createConnection(port, '127.0.0.1', () => socket.write(lines.join('\r\n')))
      socket.setEncoding('latin1').on('data', (chunk) => (text += chunk))
      socket.on('error', ({ message }) => (text += message)).on('close', () => resolve(text))
    })
  const requests = METHODS.filter((method) => method !== 'CONNECT').flatMap((method) =>
    bodies.flatMap((body) =>
      paths.map((path) => [`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, ...body]),
    ),
  )
  const faulty: string[] = []
  await inLanes(requests, async (lines) => {
    const text = await answer(lines)
    if (!/^HTTP\/1\.1 [1-4]/.test(text)) faulty.push(`${lines.slice(0, 5).join(', ')}: ${text.slice(0, 200)}`)
  })
  return faulty
}

interface Page<Row> {
  readonly data: readonly Row[]
  /** Where the next page begins; null after the last one. */
  readonly nextCursor?: string | null
}

/** The rows of all pages of a list. @param read a page, the first one without a cursor */
export async function allPages<Row>(read: (cursor?: string) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, nextCursor = null } = await read(cursor)
    rows.push(...data)
    cursor = nextCursor
  }
  return rows
}
