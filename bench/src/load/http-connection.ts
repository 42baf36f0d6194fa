import { connect, type Socket } from 'node:net'

export interface HttpReply {
  readonly status: number
  /** Status line and headers, as they came. */
  readonly head: string
  readonly body: Buffer
}

/** A request that got no whole answer: the connection was refused, closed or silent. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

const silenceMsMax = 30_000
/** Below the five seconds after which a server of Node's closes what is idle: a request that meets that end would fail. */
const idleMsMax = 3_000
const headEnd = '\r\n\r\n'

/**
 * One kept-alive connection with one request on it at a time, written for this one purpose: the general clients cost more
 * processor time a request than the gateway does for the cheapest route, and would be measured instead of it.
 */
export class HttpConnection {
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
   * @throws {NoAnswerError}
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
    this.#settle()?.reject(new NoAnswerError(why))
  }

  #open(): Socket {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true })
    socket.setTimeout(silenceMsMax, () => socket.destroy())
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      // The end of a former socket is no news to a request on the present one.
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
      // Every answer of the API says its length; one that does not could not be told from the next.
      this.#end('an answer without Content-Length')
      return
    }
    if (received.length < bodyStart + length) return
    const body = received.subarray(bodyStart, bodyStart + length)
    this.#settle()?.resolve({ status: Number(head.slice(9, 12)), head, body })
  }

  #settle(): PromiseWithResolvers<HttpReply> | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#lastUsedMs = performance.now()
    return waiting
  }
}
