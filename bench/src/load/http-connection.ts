import { connect, type Socket } from 'node:net'

export interface HttpReply {
  readonly status: number
  /** Status line and headers, as received. */
  readonly head: string
  readonly body: Buffer
}

/** A request got no complete reply: the connection was refused, closed or silent. */
export class NoReplyError extends Error {
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
