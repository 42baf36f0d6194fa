import { randomUUID } from 'node:crypto'
import {
  type CallToProve,
  defined,
  headerNames,
  type Input,
  isByPeople,
  isReplySealed,
  isSentAgain,
  type KeyClaim,
  type Operation,
  Rejection,
  type Reply,
  replyInbox,
  rpcSubjectOfAll,
  type Scope,
  type ServiceName,
  subjectOf,
  type TeamSigner,
  teamHeaders,
} from '@backoffice/contracts'
import { meter, newId, systemTimers, type Timer, type Timers } from '@backoffice/process'
import {
  type ConnectionOptions,
  errors,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  headers as natsHeaders,
} from '@nats-io/transport-node'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  bodyOrRejection,
  callTimeoutMs,
  endOfTurn,
  injectTrace,
  inputSchema,
  readMessage,
  validate,
  validateAsReader,
} from './message.ts'
import { newReplyKey, type ReplyKeyPair } from './seal.ts'

export interface CallOptions<O extends Operation> {
  readonly input: Input<O>
  /** The operator and brand that the call acts for. Every operation but the team's needs it. */
  readonly scope?: Scope
  /** Names the effect: a command runs once per operation id. Without one a new id is made. */
  readonly operationId?: string
  readonly requestId?: string
  readonly key?: KeyClaim
  /** Of a call of the team that takes two people: the proposal of somebody else that it carries out. */
  readonly approves?: string
  /** When the caller stops waiting; the operation's own time-out bounds it too. */
  readonly deadline?: Date
  /** The input was validated when it was stored, by a process that may be of the next release. */
  readonly isStored?: true
  /** To which the reply is sealed where it must be, of a call that was signed elsewhere. `call` makes one else. */
  readonly replyKey?: ReplyKeyPair
}

const tracer = trace.getTracer('rpc')

/**
 * When a call is sent again, in parts of its time-out, because the replica that took it may hang. One replica, chosen at
 * random, takes it at first. The last time all do, so that a replica that works gets it for certain.
 */
const secondAttempts = [
  { after: 1 / 8, toAll: false },
  { after: 1 / 4, toAll: false },
  { after: 1 / 2, toAll: true },
] as const
/**
 * More second attempts than this are not under way at once. When all replicas are slow, sending more would make them
 * slower.
 */
const secondAttemptsMax = 100
const sentAgain = meter.createCounter('backoffice.rpc.second_attempts', {
  description: 'Calls that were sent again because no reply had come yet',
})

/** Stands around each call of a client, and calls `send` to make it. @param name `service.operation` */
export type AroundCall = <T>(name: string, send: () => Promise<T>) => Promise<T>

type SaidByTeam = Omit<CallToProve, 'operation'>

export interface RpcClientOptions {
  readonly around?: AroundCall | undefined
  readonly timers?: Timers | undefined
}

/** Calls operations over NATS request/reply. */
export class RpcClient {
  readonly #replies: Replies
  readonly #team: TeamSigner | undefined
  #secondAttempts = 0
  readonly #around: AroundCall
  readonly #timers: Timers

  /** @param team signs the calls, for a client that calls the team's operations */
  constructor(connection: NatsConnection, team?: TeamSigner, options: RpcClientOptions = {}) {
    const { around = (_name, send) => send(), timers = systemTimers } = options
    this.#replies = repliesOver(connection)
    this.#team = team
    this.#around = around
    this.#timers = timers
  }

  /**
   * @throws {Rejection} what the service refused with; SERVICE_UNAVAILABLE when no reply came in time: the outcome is
   *   unknown; VALIDATION_ERROR when the input does not fit the operation
   */
  async call<O extends Operation>(operation: O, options: CallOptions<O>): Promise<Reply<O>> {
    const { replyKey = isReplySealed(operation, options.input) ? await newReplyKey() : undefined } = options
    const bytes = await this.request(operation, { ...options, ...defined({ replyKey }) })
    const sent: unknown = JSON.parse(bytes.toString())
    const read = readMessage(operation.reply, replyKey === undefined ? sent : await replyKey.open(sent))
    if (read.issues === null) return read.known as Reply<O>
    const cause = new Error(`the reply of ${operation.id} is not valid: ${JSON.stringify(read.issues)}`)
    throw new Rejection('INTERNAL_ERROR', undefined, { cause })
  }

  /** Like `call`, for a caller that passes the reply on: the bytes that the service validated and wrote. */
  async request<O extends Operation>(operation: O, options: CallOptions<O>): Promise<Buffer> {
    const check = options.isStored === true ? validateAsReader : validate
    const issues = check(inputSchema(operation), options.input)
    if (issues !== null) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
    const name = `${operation.service}.${operation.id}`
    const send = () => this.#send(operation, options)
    return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT }, async (span) => {
      try {
        return await this.#around(name, send)
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Rejection ? error.code : 'failed' })
        throw error
      } finally {
        span.end()
      }
    })
  }

  async #send(operation: Operation, options: CallOptions<Operation>): Promise<Buffer> {
    const { deadline, operationId, requestId, scope, input, approves, replyKey, key } = options
    const sealTo = replyKey?.sealTo
    const timeoutMs = Math.min(
      callTimeoutMs(operation),
      deadline === undefined ? Number.POSITIVE_INFINITY : deadline.getTime() - this.#timers.now(),
    )
    if (timeoutMs <= 0) throw new Rejection('SERVICE_UNAVAILABLE')
    const endsAtMs = this.#timers.monotonic() + timeoutMs
    const headers = natsHeaders()
    // A query has no effect to name, and an id takes as long as a signature.
    const ownId = operationId ?? ((operation.kind === 'query' && requestId) || newId('opn'))
    headers.set(headerNames.operationId, ownId)
    if (isByPeople(operation)) {
      const said = { operationId: ownId, input, ...defined({ approves, sealTo }) }
      await this.#signTeamCall(operation, said, headers)
    } else if (sealTo !== undefined) headers.set(headerNames.sealTo, JSON.stringify(sealTo))
    headers.set(headerNames.requestId, requestId ?? newId('req'))
    if (key !== undefined) headers.set(headerNames.key, JSON.stringify(key))
    injectTrace(headers)
    const payload = Buffer.from(JSON.stringify({ scope, input }))
    const reply = await this.#firstReply(operation, timeoutMs, async ({ number, toAll }) => {
      await endOfTurn()
      const leftMs = Math.floor(endsAtMs - this.#timers.monotonic())
      if (leftMs <= 0) throw new Error('its time was over before it was sent')
      // A duration, because the clocks of two machines may differ.
      headers.set(headerNames.timeoutMs, String(leftMs))
      if (number > 1) headers.set(headerNames.attempt, String(number))
      const subject = toAll ? rpcSubjectOfAll(operation) : subjectOf(operation)
      const request = { service: operation.service, subject, payload, headers, timeoutMs: leftMs, timers: this.#timers }
      const message = await this.#replies.request(request)
      return bodyOrRejection(message.data)
    })
    if (!(reply instanceof Rejection)) return reply
    throw reply
  }

  /** Says who of the team calls. */
  async #signTeamCall(operation: Operation, said: SaidByTeam, headers: MsgHdrs): Promise<void> {
    if (this.#team === undefined) throw new Error(`${operation.id} is the team's, and this client speaks for nobody`)
    const { idToken, proof } = await this.#team.sign({ operation: `${operation.service}.${operation.id}`, ...said })
    if (idToken !== undefined) headers.set(teamHeaders.idToken, idToken)
    headers.set(teamHeaders.proof, proof)
    if (said.approves !== undefined) headers.set(headerNames.approves, said.approves)
  }

  /**
   * Sends a call, and again while no reply comes. The first reply counts. One that says SERVICE_UNAVAILABLE counts when
   * no other attempt is under way.
   */
  #firstReply(
    operation: Operation,
    timeoutMs: number,
    send: (attempt: { readonly number: number; readonly toAll: boolean }) => Promise<Buffer | Rejection>,
  ): Promise<Buffer | Rejection> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | Rejection>()
    let underWay = 0
    let timer: Timer | undefined
    const settle = (how: () => void) => {
      this.#timers.clearTimeout(timer)
      how()
    }
    const attempt = (number: number, toAll: boolean): Promise<void> => {
      underWay += 1
      return send({ number, toAll }).then(
        (reply) => {
          underWay -= 1
          const isUnavailable = reply instanceof Rejection && reply.code === 'SERVICE_UNAVAILABLE'
          if (underWay === 0 || !isUnavailable) settle(() => resolve(reply))
        },
        (cause) => {
          underWay -= 1
          // No responder, a time-out or a lost connection: whatever it was, the outcome is unknown.
          if (underWay === 0) settle(() => reject(new Rejection('SERVICE_UNAVAILABLE', undefined, { cause })))
        },
      )
    }
    const again = (index: number) => {
      const next = secondAttempts[index]
      if (next === undefined) return
      const waitMs = timeoutMs * (next.after - (secondAttempts[index - 1]?.after ?? 0))
      timer = this.#timers.setTimeout(() => {
        again(index + 1)
        if (this.#secondAttempts >= secondAttemptsMax) return
        this.#secondAttempts += 1
        sentAgain.add(1, { service: operation.service, operation: operation.id })
        const ended = attempt(index + 2, next.toAll)
        void Promise.race([ended, promise.catch(() => {})]).finally(() => {
          this.#secondAttempts -= 1
        })
      }, waitMs)
    }
    if (isSentAgain(operation)) again(0)
    void attempt(1, false)
    return promise
  }
}

interface Request {
  readonly service: ServiceName
  readonly subject: string
  readonly payload: string | Uint8Array
  readonly headers?: MsgHdrs
  readonly timeoutMs: number
  readonly timers?: Timers
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
  async request({ service, subject, payload, headers, timeoutMs, timers = systemTimers }: Request): Promise<Msg> {
    this.#sent += 1
    const number = String(this.#sent)
    const { promise, resolve, reject } = Promise.withResolvers<Msg>()
    const timer = timers.setTimeout(() => reject(new Error(`no reply from ${subject} in time`)), timeoutMs)
    this.#waiting.set(number, { subject, resolve, reject })
    try {
      const reply = `${this.#inboxFor(service)}.${number}`
      this.#connection.publish(subject, payload, headers === undefined ? { reply } : { reply, headers })
      return await promise
    } finally {
      timers.clearTimeout(timer)
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
