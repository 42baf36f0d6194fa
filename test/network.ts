import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Teardown } from '@backoffice/test-kit'

/** What passes over one connection. Who returns false has dealt with it, and it goes no further. */
interface Passing {
  readonly sent: (bytes: Buffer) => boolean
  readonly replied: (bytes: Buffer) => boolean
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
          if (passes?.(bytes) === false || other.destroyed || other.write(bytes)) return
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

export interface LossyNetwork {
  /** The API as the operator's server sees it from the other side. */
  readonly baseUrl: string
  /** How many answers are still to be lost. */
  readonly losses: number
  /** Loses the answers to the next requests whose first line matches: the gateway has given them, nobody hears them. */
  lose(times: number, requestLine?: RegExp): void
  /** Refuses the next such requests itself, as a proxy does: the gateway does not hear of them. */
  forbid(times: number, requestLine: RegExp): void
}

const forbidden = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'

/** The network between an operator's server and the gateway. */
export async function startLossyNetwork(t: Teardown, apiUrl: string): Promise<LossyNetwork> {
  const target = new URL(apiUrl)
  let losses = 0
  let doomed = /^/
  let refusals = 0
  let unwanted = /^/

  const link = await Link.open(Number(target.port), (client) => {
    let requestLine = ''
    return {
      sent(bytes) {
        // A connection carries one request at a time; a body that comes apart from its head has no such line.
        requestLine = /^[A-Z]+ .*/.exec(bytes.toString('latin1'))?.[0] ?? requestLine
        if (refusals === 0 || !unwanted.test(requestLine)) return true
        refusals -= 1
        client.end(forbidden)
        return false
      },
      replied() {
        if (losses === 0 || !doomed.test(requestLine)) return true
        losses -= 1
        client.destroy()
        return false
      },
    }
  })
  t.teardown(() => link.close())

  return {
    baseUrl: `http://127.0.0.1:${link.port}${target.pathname}`,
    get losses() {
      return losses
    },
    lose(times, requestLine = /^/) {
      losses = times
      doomed = requestLine
    },
    forbid(times, requestLine) {
      refusals = times
      unwanted = requestLine
    },
  }
}
