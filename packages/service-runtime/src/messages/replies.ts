import { randomUUID } from 'node:crypto'
import { defined, replyInbox, type ServiceName } from '@backoffice/contracts'
import { type ConnectionOptions, errors, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'

interface Request {
  readonly service: ServiceName
  readonly subject: string
  readonly payload: string
  readonly headers?: MsgHdrs
  readonly timeoutMs: number
}

interface Waiting {
  readonly subject: string
  resolve(message: Msg): void
  reject(error: Error): void
}

const known = new WeakMap<NatsConnection, Replies>()

/** The replies that come over a connection. However many ask over it, it has one inbox for them. */
export function repliesOver(connection: NatsConnection): Replies {
  const replies = known.get(connection) ?? new Replies(connection)
  known.set(connection, replies)
  return replies
}

/**
 * Sends requests and hears the replies of each service in an inbox of its own. The client library has one inbox for all:
 * whoever may reply there to one request could reply to any.
 */
export class Replies {
  readonly #connection: NatsConnection
  /** Nobody can guess it, so nobody can have a service reply to a request that it was not sent. */
  readonly #own = randomUUID()
  readonly #waiting = new Map<string, Waiting>()
  #sent = 0

  constructor(connection: NatsConnection) {
    this.#connection = connection
    connection.subscribe(`${this.#inboxFor('*')}.*`, {
      callback: (error, message) => {
        if (error === null) this.#take(message)
        else this.#rejectWhere(() => true, error)
      },
    })
    void connection.closed().then((error) => this.#rejectWhere(() => true, error ?? new Error('the connection closed')))
    void this.#followRefusals()
  }

  /** @throws when no reply came in time, nobody serves the subject, it may not be sent to, or the connection closed */
  async request({ service, subject, payload, headers, timeoutMs }: Request): Promise<Msg> {
    this.#sent += 1
    const number = String(this.#sent)
    const { promise, resolve, reject } = Promise.withResolvers<Msg>()
    const timer = setTimeout(() => reject(new Error(`no reply from ${subject} in time`)), timeoutMs)
    this.#waiting.set(number, { subject, resolve, reject })
    try {
      const reply = `${this.#inboxFor(service)}.${number}`
      this.#connection.publish(subject, payload, { reply, ...defined({ headers }) })
      return await promise
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(number)
    }
  }

  #inboxFor(service: ServiceName | '*'): string {
    return `${replyInbox(optionsOf(this.#connection).inboxPrefix ?? '', service)}.${this.#own}`
  }

  #take(message: Msg): void {
    const waiting = this.#waiting.get(message.subject.split('.').at(-1) ?? '')
    if (message.data.length === 0 && message.headers?.code === 503)
      waiting?.reject(new Error(`nobody serves ${waiting.subject}`))
    else waiting?.resolve(message)
  }

  async #followRefusals(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type !== 'error' || !(status.error instanceof errors.PermissionViolationError)) continue
      const { error } = status
      if (error.operation === 'publish') this.#rejectWhere(({ subject }) => subject === error.subject, error)
    }
  }

  #rejectWhere(isMeant: (waiting: Waiting) => boolean, error: Error): void {
    for (const waiting of this.#waiting.values()) if (isMeant(waiting)) waiting.reject(error)
  }
}

/** With which options a connection was made; its interface does not show them. */
const optionsOf = (connection: NatsConnection) =>
  (connection as NatsConnection & { readonly options: ConnectionOptions }).options
