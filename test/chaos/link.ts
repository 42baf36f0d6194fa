import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/**
 * What passes over one connection. Who returns false has dealt with it, and it goes no further; who returns bytes has these
 * go on in its place.
 */
export interface Passing {
  readonly sent: (bytes: Buffer) => boolean | Buffer
  readonly replied?: (bytes: Buffer) => boolean
}

/** A stretch of network between somebody and one port of this machine. It can be cut, and it can be slow. */
export class Link {
  readonly port: number
  readonly #server: Server
  readonly #sockets: ReadonlySet<Socket>
  readonly #state: { held: boolean }

  private constructor(server: Server, sockets: ReadonlySet<Socket>, state: { held: boolean }) {
    this.#server = server
    this.#sockets = sockets
    this.#state = state
    this.port = (server.address() as AddressInfo).port
  }

  static async open(targetPort: number, watch?: (near: Socket) => Passing): Promise<Link> {
    const sockets = new Set<Socket>()
    const state = { held: false }
    const server = createServer((near) => {
      const far = connect(targetPort, '127.0.0.1')
      const passing = watch?.(near)
      for (const [side, other, passes] of [
        [near, far, passing?.sent],
        [far, near, passing?.replied],
      ] as const) {
        sockets.add(side)
        side.setNoDelay(true)
        side.on('error', () => other.destroy())
        side.on('close', () => {
          sockets.delete(side)
          other.destroy()
        })
        side.on('end', () => other.end())
        side.on('data', (bytes) => {
          const passed = passes?.(bytes) ?? true
          if (passed === false || other.destroyed || other.write(passed === true ? bytes : passed)) return
          side.pause()
          other.once('drain', () => {
            if (!state.held) side.resume()
          })
        })
        if (state.held) side.pause()
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Link(server, sockets, state)
  }

  /** Resets all connections. What was on its way is lost. */
  cut(): void {
    for (const socket of this.#sockets) reset(socket)
  }

  /** Carries nothing from now on; nothing is lost. */
  hold(): void {
    this.#state.held = true
    for (const socket of this.#sockets) socket.pause()
  }

  release(): void {
    this.#state.held = false
    for (const socket of this.#sockets) socket.resume()
  }

  async close(): Promise<void> {
    this.#server.close()
    this.cut()
  }
}

/** A connection that is ending cannot be reset: Node leaves it open then, and the process does not exit. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
