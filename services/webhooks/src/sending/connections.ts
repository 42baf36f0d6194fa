import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { finished } from 'node:stream'
import { ConnectionLost, codeOf } from './fault-words.ts'

/** How much of a response is read, and kept. */
export const responseHeadBytesMax = 1024
const responseHeaderBytesMax = 16 * 1024
/** How long the head of the body may take once the status is known. It is only for people to read. */
const responseHeadWaitMs = 1_000
/** Shorter than the five seconds after which Apache and Node close an idle connection. */
const idleMsDefault = 4_000
/** So that a receiver's new certificate and its new servers are met soon. */
const ageMsDefault = 60_000

interface ConnectionTarget {
  /** Whose connection it is: nothing of another endpoint is sent over it. */
  readonly endpointId: string
  readonly origin: string
  /** The addresses that were checked for this attempt. */
  readonly addresses: readonly string[]
}

export interface ConnectionsOptions {
  /** For the whole attempt: resolving, connecting, sending and waiting for the response's status. */
  readonly deadlineMs: number
  /** How many connections wait for another delivery, over all endpoints. */
  readonly keptMax: number
  /** How long each waits at most. */
  readonly idleMsMax?: number
  /** How long after it was made a connection is used again. */
  readonly ageMsMax?: number
  /** Certificate authorities besides the well-known ones (tests). */
  readonly ca?: string
}

/** The time that an attempt has. */
export interface Timer {
  readonly signal: AbortSignal
  /** Called when the response is known, so that the deadline no longer matters. */
  stop(): void
}

interface PostRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface ReceiverResponse {
  readonly responseStatus: number
  readonly responseHead: string
  readonly retryAfter: string | undefined
}

/** What Node and the kernel call a connection that the other side has closed, and we a connection that is over. */
const lossCodes: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE', 'OVER'])

/**
 * One connection to a receiver, for one request after another. It is made once: what lost it needs another. Node's own
 * client reads every interim response (RFC 9110, 15.2), also a 100 that nobody asked for.
 */
class Connection {
  readonly endpointId: string
  readonly origin: string
  readonly #agent: http.Agent
  readonly #usedUntilMs: number
  #socket: Socket | undefined
  #request: ClientRequest | undefined
  #answered = false

  constructor({ endpointId, origin, addresses }: ConnectionTarget, options: ConnectionsOptions, onClosed: () => void) {
    const { idleMsMax = idleMsDefault, ageMsMax = ageMsDefault, ca } = options
    this.endpointId = endpointId
    this.origin = origin
    this.#usedUntilMs = performance.now() + ageMsMax
    const { Agent } = origin.startsWith('https:') ? https : http
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 1,
      timeout: idleMsMax,
      maxCachedSessions: 0,
      lookup: pinnedLookup(addresses),
      ...(ca === undefined ? {} : { ca }),
    })
    const connect = this.#agent.createConnection.bind(this.#agent)
    this.#agent.createConnection = (target, connected) => {
      // By itself the agent would connect again, to addresses that were checked for an earlier attempt.
      if (this.#socket !== undefined) throw Object.assign(new Error('the connection is over'), { code: 'OVER' })
      const socket = connect(target, connected) as Socket
      this.#socket = socket.once('close', onClosed).on('data', () => {
        this.#answered = true
      })
      return socket
    }
  }

  /** Whether it may serve again: the request was sent whole, and neither side has ended. */
  get isOpen(): boolean {
    return this.#socket?.writable === true && this.#request?.writableFinished === true
  }

  /** Whether another request may go over it, when it may go to these addresses. */
  mayServe(addresses: readonly string[]): boolean {
    return this.isOpen && performance.now() < this.#usedUntilMs && addresses.includes(this.#socket?.remoteAddress ?? '')
  }

  /** Whether the receiver has closed it, so that a request failed of which nothing was answered. */
  wasLost(error: unknown): boolean {
    return !this.#answered && lossCodes.has(codeOf(error))
  }

  /**
   * Sends a request, and reads the head of the response's body. If that is not the whole of it, the connection is closed.
   * @param responded called when the status is known
   */
  post({ path, headers, body }: PostRequest, responded: () => void): Promise<ReceiverResponse> {
    this.#answered = false
    const { promise, resolve, reject } = Promise.withResolvers<ReceiverResponse>()
    const { request: send } = this.origin.startsWith('https:') ? https : http
    this.#request = send(this.origin, {
      agent: this.#agent,
      method: 'POST',
      path,
      headers: { ...headers, 'Content-Length': body.length },
      maxHeaderSize: responseHeaderBytesMax,
    })
    this.#request
      .on('response', (response) => {
        responded()
        resolve(this.#read(response))
      })
      .on('upgrade', ({ statusCode = 0 }) => {
        this.close()
        resolve({ responseStatus: statusCode, responseHead: '', retryAfter: undefined })
      })
      .on('error', reject)
      .end(body)
    return promise
  }

  /** The status has arrived, so a body that is slow or breaks off changes nothing. */
  async #read(response: IncomingMessage): Promise<ReceiverResponse> {
    const { statusCode: responseStatus = 0, headers } = response
    const chunks: Buffer[] = []
    let bytes = 0
    const timer = setTimeout(() => this.close(), responseHeadWaitMs)
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, Math.max(0, responseHeadBytesMax - bytes)))
      bytes += chunk.length
      if (bytes > responseHeadBytesMax) this.close()
    })
    await new Promise<void>((resolve) => finished(response, () => resolve()))
    clearTimeout(timer)
    return { responseStatus, responseHead: textOf(chunks), retryAfter: headers['retry-after'] }
  }

  /** At once: it does not wait for a receiver that keeps the connection open. */
  close(): void {
    this.#request?.destroy()
    this.#agent.destroy()
  }
}

/** Connects the socket to the addresses that were checked, whatever the name resolves to by now. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host, options, callback) => {
    const [first] = all
    if (options.all === true) callback(null, all)
    else if (first !== undefined) callback(null, first.address, first.family)
  }
}

/** PostgreSQL cannot store NUL in text. What is no text takes no more bytes than came: U+FFFD would take three for one. */
const textOf = (chunks: readonly Buffer[]) =>
  Buffer.concat(chunks).toString('utf8').replaceAll('\u0000', '?').replaceAll('\uFFFD', '?')

/**
 * The connections to receivers. One is kept for the next delivery of its endpoint, so an endpoint has at most as many as it
 * had deliveries under way at once.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  /** Those that wait for another delivery; the one that has waited longest comes first. */
  readonly #kept = new Set<Connection>()

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  closeAll(endpointId: string): void {
    for (const connection of this.#kept) if (connection.endpointId === endpointId) this.#drop(connection)
  }

  /**
   * Sends a request over a kept connection, or over a new one.
   * @throws {ConnectionLost} the receiver closed a kept connection at the moment at which it was used again. The others
   * that are kept may be as stale, so the next attempt goes over a new one.
   */
  async post(target: ConnectionTarget, request: PostRequest, timer: Timer): Promise<ReceiverResponse> {
    const kept = this.#take(target)
    const made: Connection = kept ?? new Connection(target, this.#options, () => this.#kept.delete(made))
    try {
      return await this.#postOver(made, request, timer)
    } catch (error) {
      if (kept?.wasLost(error) !== true) throw error
      this.closeAll(target.endpointId)
      throw new ConnectionLost()
    }
  }

  async #postOver(connection: Connection, request: PostRequest, { signal, stop }: Timer): Promise<ReceiverResponse> {
    const close = () => connection.close()
    signal.throwIfAborted()
    signal.addEventListener('abort', close)
    try {
      const response = await connection.post(request, stop)
      if (connection.isOpen) this.#keep(connection)
      return response
    } catch (error) {
      close()
      throw error
    } finally {
      signal.removeEventListener('abort', close)
    }
  }

  /** The kept connection that was used last to one of the addresses. Those to other addresses are closed. */
  #take({ endpointId, origin, addresses }: ConnectionTarget): Connection | undefined {
    let latest: Connection | undefined
    for (const connection of this.#kept) {
      if (connection.endpointId !== endpointId || connection.origin !== origin) continue
      if (connection.mayServe(addresses)) latest = connection
      else this.#drop(connection)
    }
    if (latest !== undefined) this.#kept.delete(latest)
    return latest
  }

  #keep(connection: Connection): void {
    this.#kept.add(connection)
    const [longest] = this.#kept
    if (longest !== undefined && this.#kept.size > this.#options.keptMax) this.#drop(longest)
  }

  #drop(connection: Connection): void {
    this.#kept.delete(connection)
    connection.close()
  }
}
