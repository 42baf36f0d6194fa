import assert from 'node:assert/strict'
import {
  audiences,
  type CallToProve,
  defined,
  type Environment,
  type ErrorCode,
  errorCatalogue,
  headerNames,
  isByPeople,
  isDeclared,
  isReplyInbox,
  isReplySealed,
  KeyClaim,
  type Operation,
  type Proof,
  Rejection,
  Scope,
  type ServiceName,
  servedSubjects,
  type TeamCaller,
  teamHeaders,
} from '@backoffice/contracts'
import { durations, type Logger, newId, type Timers } from '@backoffice/process'
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  callTimeoutMs,
  type ErrorReply,
  endOfTurn,
  extractTrace,
  inputSchema,
  type RequestMessage,
  readMessage,
  replyMessage,
  validateAsReader,
  validateAsWritten,
} from './message.ts'
import { sealerTo } from './seal.ts'

/** A request as it reached the service: validated, with whom it acts for. */
export interface ReceivedCall {
  readonly input: unknown
  /** The input with the fields that only the next release knows. Both releases must tell one call by it. */
  readonly inputAsSent: unknown
  readonly scope: Scope | undefined
  /** Who of the team calls; undefined for an operator or a service. */
  readonly caller: TeamCaller | undefined
  /** The proposal that the call of the team carries out. */
  readonly approves: string | undefined
  readonly operationId: string
  readonly requestId: string
  readonly key: KeyClaim | undefined
  readonly deadline: Date
  /** Size of the message. */
  readonly bytes: number
}

export interface ServedOperation {
  readonly operation: Operation
  /** Of an operation that not every program may call. */
  readonly admit?: Admit
  readonly run: (call: ReceivedCall) => Promise<RunResult>
}

export interface RunResult {
  readonly body: unknown
  /** An earlier attempt has written it, which a process of the next release may have made. */
  readonly isStored: boolean
}

/** What a call of the team says about who makes it. */
export interface TeamCall extends CallToProve, Partial<Proof> {}

/**
 * Finds out who of the team calls.
 * @throws {Rejection} when that is not proven, or when they may not
 */
export type Admit = (call: TeamCall) => Promise<TeamCaller>

export interface ServerOptions {
  readonly served: readonly ServedOperation[]
  /** Throws when a scope is not that of its brand. */
  readonly brands: { verify(scope: Scope): Promise<void> }
  /** Whether waiting helps against an error: then the caller hears SERVICE_UNAVAILABLE. */
  readonly isPassing: (error: unknown) => boolean
  readonly log: Logger
  readonly timers: Timers
}

/** How a message came: to one replica, to all of them, or from a person of the team to one. */
type Way = keyof ReturnType<typeof servedSubjects>

interface Outcome {
  readonly reply: string
  readonly code: ErrorCode | 'ok'
  /** Of the call; `none` for the team's, and for a message that cannot be read. */
  readonly environment: Environment | 'none'
}

/** More requests than this are refused at once. Nobody would still be waiting at the end of a longer queue. */
const inFlightMax = 2_000
/** The most for one brand, so that its burst leaves room for the others. */
const inFlightOfOwnerMax = inFlightMax / 2
/** The broker's limit is 1 MiB; headers need room too. */
const replyBytesMax = 1_000_000
const tracer = trace.getTracer('rpc')
const duration = durations(
  'backoffice.rpc.duration_seconds',
  'Time to run an operation that was called over NATS, by its outcome',
)

/**
 * Serves a service's operations in its queue group, so that replicas share the work. What holds for every operation is
 * enforced here, once: who may call in which environment, a scope that is that of its brand, valid input and replies, deadlines and sizes.
 */
export class RpcServer {
  readonly #served: ReadonlyMap<string, ServedOperation>
  readonly #options: Omit<ServerOptions, 'served'>
  readonly #inFlight = new Set<Promise<void>>()
  readonly #inFlightByOwner = new Map<string, number>()
  /** The calls under way, by operation, operation id and proof. */
  readonly #running = new Map<string, { readonly data: Uint8Array; readonly outcome: Promise<Outcome> }>()
  readonly #subscriptions: Subscription[] = []

  constructor({ served, ...options }: ServerOptions) {
    for (const { operation, admit } of served)
      assert(admit !== undefined || !isByPeople(operation), `nobody is asked who may call ${operation.id}`)
    this.#served = new Map(served.map((entry) => [key(isByPeople(entry.operation), entry.operation.id), entry]))
    this.#options = options
  }

  listen(connection: NatsConnection, service: ServiceName): void {
    const subjects = servedSubjects(service)
    for (const way of ['rpc', 'all', 'team'] as const) {
      const subscription = connection.subscribe(subjects[way], {
        // Without a queue every replica gets the message.
        ...(way === 'all' ? {} : { queue: service }),
        callback: (error, message) => {
          if (error !== null) this.#options.log.error({ err: error }, 'the subscription to calls failed')
          else this.#accept(message, way, service)
        },
      })
      this.#subscriptions.push(subscription)
    }
  }

  /** Takes no further request, and waits for those under way. */
  async stop(): Promise<void> {
    // An unavailable broker cannot be told. Requests that were taken before are finished all the same.
    await Promise.allSettled(this.#subscriptions.map((subscription) => subscription.drain()))
    await Promise.all(this.#inFlight)
  }

  #accept(message: Msg, way: Way, service: ServiceName): void {
    if (!isReplyInbox(message.reply, service)) {
      // No client of ours sends one, and JetStream passes messages on without a reply subject.
      this.#options.log.error(
        { subject: message.subject, reply: message.reply },
        'a request that asks for no reply to an inbox of ours was dropped',
      )
      return
    }
    if (this.#inFlight.size >= inFlightMax) {
      this.#respondUnavailable(message, way)
      return
    }
    const task = this.#serve(message, way)
      .catch((error) => this.#options.log.error({ err: error, subject: message.subject }, 'a request got no reply'))
      .finally(() => this.#inFlight.delete(task))
    this.#inFlight.add(task)
  }

  async #serve(message: Msg, way: Way): Promise<void> {
    const team = way === 'team'
    const tokens = message.subject.split('.')
    const name = tokens.at(way === 'all' ? -2 : -1) ?? ''
    const entry = this.#served.get(key(team, name))
    if (entry === undefined) {
      // The caller may be of the next release, and another replica may know the operation. A refusal would be stored as
      // the reply, so there is none.
      this.#options.log.warn(
        { subject: message.subject },
        'a request names an operation that this release does not know; it was not answered',
      )
      this.#respondUnavailable(message, way)
      return
    }
    const said = (header: string) => message.headers?.get(header) ?? ''
    // The team's proof is part of the key: an unsigned copy of a call must not get the reply to the signed one.
    const call = `${name} ${said(headerNames.operationId)} ${said(teamHeaders.idToken)} ${said(teamHeaders.proof)} ${said(headerNames.sealTo)}`
    const running = this.#running.get(call)
    if (running !== undefined && message.headers?.has(headerNames.attempt) && isSame(running.data, message.data)) {
      // An earlier attempt of this call is under way here. Its reply is the reply to both.
      this.#respond(message, (await running.outcome).reply)
      return
    }
    const parent = extractTrace(message.headers)
    const span = tracer.startSpan(`${entry.operation.service}.${name}`, { kind: SpanKind.SERVER }, parent)
    const started = performance.now()
    const outcome = context.with(trace.setSpan(parent, span), () => this.#run(entry, message))
    this.#running.set(call, { data: message.data, outcome })
    const { reply, code, environment } = await outcome
    if (this.#running.get(call)?.outcome === outcome) this.#running.delete(call)
    if (code !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR, message: code })
    const { service } = entry.operation
    duration.record((performance.now() - started) / 1_000, { service, operation: name, code, environment })
    // The replies to a batch leave together.
    await endOfTurn()
    this.#respond(message, reply)
    span.end()
  }

  async #run({ operation, admit, run }: ServedOperation, message: Msg): Promise<Outcome> {
    const requestId = message.headers?.get(headerNames.requestId) || newId('req')
    let environment: Outcome['environment'] = 'none'
    try {
      const request = message.json<RequestMessage>()
      const operationId = message.headers?.get(headerNames.operationId) || newId('opn')
      const caller = await admit?.(teamCallOf(operation, { message, operationId, input: request.input }))
      const { timers } = this.#options
      const call = receive(operation, message, { request, caller, operationId, requestId, timers })
      // Where a brand belongs is no matter of who calls. Only the operation that makes it known comes before that.
      if (call.scope !== undefined && operation.id !== 'registerBrand') await this.#options.brands.verify(call.scope)
      environment = call.scope?.environment ?? 'none'
      const seal = isReplySealed(operation, call.input) ? await sealOf(operation, caller, message) : undefined
      const { body, isStored } = await this.#withinShare(ownerOf(call), () => run(call))
      const issues = isStored ? validateAsReader(operation.reply, body) : validateAsWritten(operation.reply, body)
      if (issues !== null) throw new Error(`the reply of ${operation.id} is not valid: ${JSON.stringify(issues)}`)
      const written = JSON.stringify(body)
      const reply = replyMessage(seal === undefined ? written : await seal(written))
      if (Buffer.byteLength(reply) > replyBytesMax) throw new Error(`the reply of ${operation.id} is too large to send`)
      return { reply, code: 'ok', environment }
    } catch (error) {
      const refused = this.#refuse(operation, error, requestId)
      return { reply: JSON.stringify(refused), code: refused.error.code, environment }
    }
  }

  async #withinShare<T>(owner: string, run: () => Promise<T>): Promise<T> {
    const underWay = this.#inFlightByOwner.get(owner) ?? 0
    if (underWay >= inFlightOfOwnerMax) throw new Rejection('SERVICE_UNAVAILABLE')
    this.#inFlightByOwner.set(owner, underWay + 1)
    try {
      return await run()
    } finally {
      const left = (this.#inFlightByOwner.get(owner) ?? 1) - 1
      if (left > 0) this.#inFlightByOwner.set(owner, left)
      else this.#inFlightByOwner.delete(owner)
    }
  }

  #refuse(operation: Operation, error: unknown, requestId: string): ErrorReply {
    if (error instanceof Rejection && isDeclared(operation, error.code)) {
      if (errorCatalogue[error.code].status >= 500)
        this.#options.log.warn(
          { operation: operation.id, requestId, code: error.code, err: error.cause },
          `${operation.id} was refused: something that it needs is unavailable`,
        )
      return errorReply(error.code, error.details)
    }
    this.#options.log.error({ operation: operation.id, requestId, err: error }, `the operation ${operation.id} failed`)
    return errorReply(this.#options.isPassing(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR')
  }

  /** When all replicas got the message, another one may answer it, so this one stays silent. */
  #respondUnavailable(message: Msg, way: Way): void {
    if (way !== 'all') this.#respond(message, JSON.stringify(errorReply('SERVICE_UNAVAILABLE')))
  }

  /** A reply that cannot be sent is like a reply that got lost: the caller asks again. */
  #respond(message: Msg, reply: string): void {
    try {
      // Small buffers share memory. Those that the client library would make of a text are allocated one by one.
      message.respond(Buffer.from(reply))
    } catch (error) {
      this.#options.log.error({ err: error, subject: message.subject }, 'a reply could not be sent')
    }
  }
}

/** Whose a call is, for fairness. */
export const ownerOf = ({ scope }: Pick<ReceivedCall, 'scope'>): string => scope?.brandId ?? 'team'

const isSame = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

const key = (team: boolean, name: string) => `${team ? 'team' : 'rpc'}.${name}`

function teamCallOf(
  { service, id }: Operation,
  { message, operationId, input }: { readonly message: Msg; readonly operationId: string; readonly input: unknown },
): TeamCall {
  const said = (name: string) => message.headers?.get(name) || undefined
  return {
    operation: `${service}.${id}`,
    operationId,
    input,
    ...defined({
      idToken: said(teamHeaders.idToken),
      proof: said(teamHeaders.proof),
      approves: said(headerNames.approves),
    }),
  }
}

/**
 * Seals the reply to a call: replies go to an inbox that every connection of the caller's user may hear.
 * @returns a function of the reply as JSON
 * @throws {Rejection} VALIDATION_ERROR when the call does not say to which key, before anything is done
 */
async function sealOf(
  operation: Operation,
  caller: TeamCaller | undefined,
  { headers }: Pick<Msg, 'headers'>,
): Promise<(json: string) => Promise<string>> {
  const seal = await sealerTo(isByPeople(operation) ? caller?.sealTo : sealToIn(headers?.get(headerNames.sealTo)))
  if (seal !== undefined) return async (json) => JSON.stringify(await seal(json))
  const issues = [{ path: 'sealTo', message: 'must be a public P-256 key: the reply is sealed to it' }]
  throw new Rejection('VALIDATION_ERROR', { in: 'headers', issues })
}

function sealToIn(header: string | undefined): unknown {
  try {
    return JSON.parse(header ?? '')
  } catch {
    return undefined
  }
}

/** @throws when a header is there and is none of the gateway's */
function keyIn(header: string | undefined): KeyClaim | undefined {
  if (!header) return undefined
  const read = readMessage(KeyClaim, JSON.parse(header))
  if (read.issues !== null) throw new Error(`a call has no valid ${headerNames.key}`)
  return read.known as KeyClaim
}

function receive(
  operation: Operation,
  message: Msg,
  known: Pick<ReceivedCall, 'caller' | 'operationId' | 'requestId'> &
    Pick<ServerOptions, 'timers'> & { readonly request: RequestMessage },
): ReceivedCall {
  const { scope, input } = known.request
  const { isScoped: scoped, onlyIn, caller } = audiences[operation.audience]
  const read = readMessage(inputSchema(operation), input)
  if (read.issues !== null) {
    // A service validates its input before it calls, so this caller is of another release. Only a person of the team
    // can correct an input.
    if (!scoped) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues: read.issues })
    const cause = new Error(`the input of ${operation.id} is not valid: ${JSON.stringify(read.issues)}`)
    throw new Rejection('SERVICE_UNAVAILABLE', undefined, { cause })
  }
  if (scoped && validateAsReader(Scope, scope) !== null) throw new Error(`a call of ${operation.id} has no valid scope`)
  if (caller === 'provider' && scope?.provider === undefined)
    throw new Error(`a call of ${operation.id} names no provider`)
  if (onlyIn !== undefined && scope?.environment !== onlyIn) throw new Rejection('SANDBOX_ONLY')
  const waitsMs = Number(message.headers?.get(headerNames.timeoutMs) || Number.NaN)
  const timeoutMs = Number.isNaN(waitsMs) ? callTimeoutMs(operation) : waitsMs
  if (timeoutMs <= 0) throw new Rejection('SERVICE_UNAVAILABLE')
  return {
    input: read.known,
    inputAsSent: input,
    scope: scoped ? scope : undefined,
    caller: known.caller,
    approves: message.headers?.get(headerNames.approves) || undefined,
    operationId: known.operationId,
    requestId: known.requestId,
    key: keyIn(message.headers?.get(headerNames.key)),
    deadline: new Date(known.timers.now() + timeoutMs),
    bytes: message.data.length,
  }
}

function errorReply(code: ErrorCode, details?: Record<string, unknown>): ErrorReply {
  return { error: { code, message: errorCatalogue[code].message, ...(details === undefined ? {} : { details }) } }
}
