import { randomUUID } from 'node:crypto'
import { headerNames, inboxOf, type Operation, rpcSubject, type Scope } from '@backoffice/contracts'
import { connectNats } from '@backoffice/service-runtime/internal'
import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node'

export interface NatsLogin {
  readonly url: string
  readonly user: string
  readonly password: string
}

export const connectAs = ({ url, user, password }: NatsLogin): Promise<NatsConnection> =>
  connectNats({ NATS_URL: url, NATS_USER: user, NATS_PASSWORD: password }, { name: 'bench', attemptsMax: 3 })

const timeoutMs = 8_000
const sweepEveryMs = 1_000

interface Pending {
  readonly done: (failure: string | undefined) => void
  readonly expiresAtMs: number
}

/**
 * Calls of one service on another, many in flight at once. The services' own client validates requests and replies and
 * opens spans. That is the sender's cost and is not measured here, so a load sends and reads the bare messages.
 */
export class NatsRequests {
  readonly #connection: NatsConnection
  readonly #prefix: string
  readonly #pending = new Map<string, Pending>()
  readonly #sweeping: NodeJS.Timeout
  #sent = 0

  private constructor(connection: NatsConnection, user: string) {
    this.#connection = connection
    this.#prefix = `${inboxOf(user)}.bench-${randomUUID()}.`
    connection.subscribe(`${this.#prefix}*`, { callback: (_error, message) => this.#take(message) })
    this.#sweeping = setInterval(() => this.#sweep(), sweepEveryMs)
    this.#sweeping.unref()
  }

  static async open(login: NatsLogin): Promise<NatsRequests> {
    return new NatsRequests(await connectAs(login), login.user)
  }

  /** @returns what failed, or undefined */
  call(operation: Operation, message: { readonly scope: Scope; readonly input: unknown }): Promise<string | undefined> {
    this.#sent += 1
    const token = String(this.#sent)
    const sent = headers()
    sent.set(headerNames.operationId, `opn_${randomUUID()}`)
    sent.set(headerNames.requestId, `req_${token}`)
    sent.set(headerNames.timeoutMs, String(timeoutMs))
    // Earlier versions read the deadline, not the duration.
    sent.set(headerNames.deadline, String(Date.now() + timeoutMs))
    return new Promise((resolve) => {
      this.#pending.set(token, { done: resolve, expiresAtMs: performance.now() + timeoutMs })
      const options = { reply: this.#prefix + token, headers: sent }
      this.#connection.publish(rpcSubject(operation), JSON.stringify(message), options)
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await this.#connection.close()
  }

  #take(message: Msg): void {
    const token = message.subject.slice(this.#prefix.length)
    const pending = this.#pending.get(token)
    this.#pending.delete(token)
    pending?.done(failureIn(message))
  }

  #sweep(): void {
    const now = performance.now()
    for (const [token, { done, expiresAtMs }] of this.#pending) {
      if (expiresAtMs > now) continue
      this.#pending.delete(token)
      done('no reply in time')
    }
  }
}

function failureIn(message: Msg): string | undefined {
  if (message.headers?.code === 503) return 'no responder'
  const text = message.string()
  return text.startsWith('{"error"') ? `refused: ${/"code":"(\w+)"/.exec(text)?.[1]}` : undefined
}
