import { createHash, createHmac, randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'

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
