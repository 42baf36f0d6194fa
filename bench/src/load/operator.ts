import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { signRequest } from '@backoffice/contracts'
import type { Load } from './load.ts'

interface Credentials {
  readonly key: string
  readonly secret: string
}

interface Call {
  readonly method: 'GET' | 'POST'
  /** Relative to the base URL, with its query string. */
  readonly path: string
  readonly body?: string
  readonly idempotencyKey?: string
}

export const get = (path: string): Call => ({ method: 'GET', path })
export const post = (path: string, body: unknown, idempotencyKey: string = randomUUID()): Call => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
  idempotencyKey,
})

/** The server of an operator: it signs each request and keeps one connection for each of its clients. */
export class LoadOperator {
  readonly #base: URL
  readonly #credentials: Credentials
  readonly #connections: HttpConnection[] = []

  constructor(baseUrl: string, credentials: Credentials) {
    this.#base = new URL(baseUrl)
    this.#credentials = credentials
  }

  /** @throws {NoReplyError} */
  send(client: number, call: Call): Promise<HttpReply> {
    return this.#connection(client).send(this.#signed(call))
  }

  /**
   * One request of a load.
   * @returns undefined when the reply has another status; that is reported to the load
   */
  async measured(client: number, load: Load, call: Call, status: number): Promise<HttpReply | undefined> {
    const sentAtMs = performance.now()
    try {
      const reply = await this.send(client, call)
      load.replied(sentAtMs)
      if (reply.status === status) return reply
      load.failed(`${call.method}: ${reply.status} ${codeIn(reply)}`.trim())
    } catch (error) {
      if (!(error instanceof NoReplyError)) throw error
      load.failed(`${call.method}: ${error.message}`)
    }
    return undefined
  }

  /**
   * One request that prepares a case.
   * @throws when the reply has another status
   */
  async ask(client: number, call: Call, status: number): Promise<Record<string, unknown>> {
    const reply = await this.send(client, call)
    if (reply.status !== status) throw new Error(`${call.method} ${call.path}: ${reply.status} ${reply.body}`)
    return bodyOf(reply)
  }

  close(): void {
    for (const connection of this.#connections) connection?.close()
  }

  #connection(client: number): HttpConnection {
    const known = this.#connections[client]
    if (known !== undefined) return known
    const made = new HttpConnection({ host: this.#base.hostname, port: Number(this.#base.port) })
    this.#connections[client] = made
    return made
  }

  #signed({ method, path, body = '', idempotencyKey }: Call): string {
    const target = this.#base.pathname + path
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = signRequest(this.#credentials.secret, { method, path: target, timestamp, body })
    const ofBody =
      method === 'GET'
        ? ''
        : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nIdempotency-Key: ${idempotencyKey}\r\n`
    return (
      `${method} ${target} HTTP/1.1\r\nHost: ${this.#base.host}\r\nX-Operator-Key: ${this.#credentials.key}\r\n` +
      `X-Timestamp: ${timestamp}\r\nX-Signature: ${signature}\r\n${ofBody}\r\n${body}`
    )
  }
}

export const bodyOf = (reply: HttpReply): Record<string, unknown> =>
  JSON.parse(reply.body.toString()) as Record<string, unknown>

/** The code of a refusal, for the list of failures. */
function codeIn(reply: HttpReply): string {
  try {
    return (bodyOf(reply) as { error?: { code?: string } }).error?.code ?? ''
  } catch {
    return ''
  }
}

interface HttpReply {
  readonly status: number
  /** Status line and headers, as received. */
  readonly head: string
  readonly body: Buffer
}

/** A request got no complete reply: the connection was refused, closed or silent. */
class NoReplyError extends Error {
  override readonly name = 'NoReplyError'
}

const silenceMsMax = 30_000
/** A Node server closes a connection that is idle for five seconds. A request sent at that moment would fail. */
const idleMsMax = 3_000
const headEnd = '\r\n\r\n'

/**
 * A kept-alive connection with one request at a time. General HTTP clients use more processor time for a request than the
 * gateway does for its cheapest route, so they would be measured instead of the gateway.
 */
class HttpConnection {
  readonly #host: string
  readonly #port: number
  #socket: Socket | undefined
  #waiting: PromiseWithResolvers<HttpReply> | undefined
  #received: Buffer | undefined
  #lastUsedMs = 0

  constructor({ host, port }: { readonly host: string; readonly port: number }) {
    this.#host = host
    this.#port = port
  }

  /**
   * @param request the whole request as it goes over the wire, in ASCII
   * @throws {NoReplyError}
   */
  send(request: string): Promise<HttpReply> {
    if (performance.now() - this.#lastUsedMs > idleMsMax) this.close()
    const waiting = Promise.withResolvers<HttpReply>()
    this.#waiting = waiting
    this.#received = undefined
    this.#socket ??= this.#open()
    this.#socket.write(request, 'latin1')
    return waiting.promise
  }

  close(): void {
    this.#end('the connection was closed')
  }

  #end(why: string): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#takeWaiting()?.reject(new NoReplyError(why))
  }

  #open(): Socket {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true })
    socket.setTimeout(silenceMsMax, () => socket.destroy())
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      // The end of an earlier socket does not concern the request on the present one.
      if (this.#socket === socket) this.#end('the connection was refused, closed or silent')
    })
    return socket
  }

  #take(chunk: Buffer): void {
    const received = this.#received === undefined ? chunk : Buffer.concat([this.#received, chunk])
    this.#received = received
    const end = received.indexOf(headEnd)
    if (end < 0) return
    const head = received.toString('latin1', 0, end)
    const bodyStart = end + headEnd.length
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
    if (Number.isNaN(length)) {
      // Every reply of the API has a length. Without one, the end of this reply could not be found.
      this.#end('a reply without Content-Length')
      return
    }
    if (received.length < bodyStart + length) return
    const body = received.subarray(bodyStart, bodyStart + length)
    this.#takeWaiting()?.resolve({ status: Number(head.slice(9, 12)), head, body })
  }

  #takeWaiting(): PromiseWithResolvers<HttpReply> | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#lastUsedMs = performance.now()
    return waiting
  }
}
