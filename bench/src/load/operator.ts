import { randomUUID } from 'node:crypto'
import { signRequest } from '@backoffice/contracts'
import { HttpConnection, type HttpReply, NoReplyError } from './http-connection.ts'
import type { Load } from './load.ts'

export interface Credentials {
  readonly key: string
  readonly secret: string
}

export interface Call {
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
