import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Teardown } from '@backoffice/test-kit'

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

  const open = new Set<Socket>()
  const server = createServer((client: Socket) => {
    const gateway = connect(Number(target.port), target.hostname)
    let requestLine = ''
    client.on('data', (bytes) => {
      // A connection carries one request at a time; a body that comes apart from its head has no such line.
      requestLine = /^[A-Z]+ .*/.exec(bytes.toString('latin1'))?.[0] ?? requestLine
      if (refusals > 0 && unwanted.test(requestLine)) {
        refusals -= 1
        client.end(forbidden)
      } else gateway.write(bytes)
    })
    gateway.on('data', (bytes) => {
      if (losses > 0 && doomed.test(requestLine)) {
        losses -= 1
        client.destroy()
        gateway.destroy()
      } else client.write(bytes)
    })
    for (const [side, other] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      open.add(side)
      side.on('error', () => other.destroy())
      side.on('close', () => {
        open.delete(side)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  t.teardown(() => {
    server.close()
    // The gateway keeps idle connections for more than a minute, and the process would wait for them.
    for (const side of open) side.destroy()
  })

  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}${target.pathname}`,
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
