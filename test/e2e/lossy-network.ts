import type { Teardown } from '@backoffice/test-kit'
import { Link } from '../chaos/link.ts'

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
