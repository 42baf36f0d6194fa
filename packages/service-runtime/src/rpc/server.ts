import {
  type ErrorCode,
  errorCatalogue,
  type Operation,
  Rejection,
  Scope,
  type ServiceName,
} from '@backoffice/contracts'
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { isDeclared } from '../commands/stored-reply.ts'
import { isConnectionFault } from '../faults.ts'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import { durations } from '../telemetry/metrics.ts'
import { inputSchema, validate } from '../validation.ts'
import { headerNames, type ReplyMessage, type RequestMessage, timeoutMsDefault } from './wire.ts'

/** A request as it reached the service: validated, with whom it acts for. */
export interface ReceivedCall {
  readonly input: unknown
  readonly scope: Scope | undefined
  readonly actor: string | undefined
  readonly operationId: string
  readonly requestId: string
  readonly deadline: Date
}

export type ServedOperation = { readonly operation: Operation; readonly run: (call: ReceivedCall) => Promise<unknown> }

/** More than this at once is refused at once: a queue that nobody waits for any more helps no one. */
const inFlightMax = 1_000
const tracer = trace.getTracer('rpc')
const duration = durations('backoffice.rpc.duration_seconds', 'Time to answer an operation over NATS, by its outcome')

/** Answers a service's operations in its queue group, so that replicas share the work. */
export class RpcServer {
  readonly #served: ReadonlyMap<string, ServedOperation>
  readonly #log: Logger
  readonly #inFlight = new Set<Promise<void>>()
  readonly #subscriptions: Subscription[] = []

  constructor(options: { readonly served: readonly ServedOperation[]; readonly log: Logger }) {
    this.#served = new Map(
      options.served.map((entry) => [key(entry.operation.audience === 'team', entry.operation.id), entry]),
    )
    this.#log = options.log
  }

  listen(connection: NatsConnection, service: ServiceName): void {
    for (const [subject, team] of [
      [`rpc.${service}.*`, false],
      [`team.*.${service}.*`, true],
    ] as const) {
      const subscription = connection.subscribe(subject, {
        queue: service,
        callback: (error, message) => {
          if (error !== null) this.#log.error({ err: error }, 'the subscription failed')
          else this.#accept(message, team)
        },
      })
      this.#subscriptions.push(subscription)
    }
  }

  /** Takes no further request, and waits for those under way. */
  async drain(): Promise<void> {
    await Promise.all(this.#subscriptions.map((subscription) => subscription.drain()))
    await Promise.all(this.#inFlight)
  }

  #accept(message: Msg, team: boolean): void {
    if (this.#inFlight.size >= inFlightMax) {
      respond(message, failure('SERVICE_UNAVAILABLE'))
      return
    }
    const task = this.#serve(message, team).finally(() => this.#inFlight.delete(task))
    this.#inFlight.add(task)
  }

  async #serve(message: Msg, team: boolean): Promise<void> {
    const tokens = message.subject.split('.')
    const name = tokens.at(-1) ?? ''
    const entry = this.#served.get(key(team, name))
    if (entry === undefined) {
      respond(message, failure('NOT_FOUND'))
      return
    }
    const parent = propagation.extract(context.active(), message.headers, {
      get: (carrier, header) => carrier?.get(header) || undefined,
      keys: (carrier) => carrier?.keys() ?? [],
    })
    const span = tracer.startSpan(`${entry.operation.service}.${name}`, { kind: SpanKind.SERVER }, parent)
    const started = performance.now()
    await context.with(trace.setSpan(parent, span), async () => {
      const reply = await this.#answer(entry, message, team ? tokens[1] : undefined)
      const code = 'error' in reply ? reply.error.code : 'ok'
      if (code !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR, message: code })
      const seconds = (performance.now() - started) / 1_000
      duration.record(seconds, { service: entry.operation.service, operation: name, code })
      respond(message, reply)
    })
    span.end()
  }

  async #answer({ operation, run }: ServedOperation, message: Msg, actor: string | undefined): Promise<ReplyMessage> {
    const requestId = message.headers?.get(headerNames.requestId) || newId('req')
    const started = performance.now()
    try {
      const call = receive(operation, message, { actor, requestId })
      const body = await run(call)
      const issues = validate(operation.reply, body)
      if (issues !== null) throw new Error(`the reply of ${operation.id} is not valid: ${JSON.stringify(issues)}`)
      return { body }
    } catch (error) {
      return this.#refuse(operation, error, requestId)
    } finally {
      this.#log.debug(
        { operation: operation.id, requestId, durationMs: Math.round(performance.now() - started) },
        'answered',
      )
    }
  }

  #refuse(operation: Operation, error: unknown, requestId: string): ReplyMessage {
    if (error instanceof Rejection && isDeclared(operation, error.code)) {
      const status = errorCatalogue[error.code].status
      if (status >= 500)
        this.#log.warn({ operation: operation.id, requestId, code: error.code, err: error.cause }, 'could not answer')
      return failure(error.code, error.details)
    }
    this.#log.error({ operation: operation.id, requestId, err: error }, 'failed')
    return failure(isConnectionFault(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR')
  }
}

const key = (team: boolean, name: string) => `${team ? 'team' : 'rpc'}.${name}`

function receive(
  operation: Operation,
  message: Msg,
  known: { readonly actor: string | undefined; readonly requestId: string },
): ReceivedCall {
  const { scope, input } = message.json<RequestMessage>()
  const issues = validate(inputSchema(operation), input)
  if (issues !== null) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
  const scoped = operation.audience !== 'team'
  if (scoped && validate(Scope, scope) !== null) throw new Error(`a call of ${operation.id} has no valid scope`)
  // The deadline is the sender's wall clock, which is no business of an injected one.
  const deadline = new Date(
    Number(message.headers?.get(headerNames.deadline)) || Date.now() + (operation.timeoutMs ?? timeoutMsDefault),
  )
  if (deadline.getTime() <= Date.now()) throw new Rejection('SERVICE_UNAVAILABLE')
  return {
    input,
    scope: scoped ? scope : undefined,
    actor: known.actor,
    operationId: message.headers?.get(headerNames.operationId) || newId('opn'),
    requestId: known.requestId,
    deadline,
  }
}

function failure(code: ErrorCode, details?: Record<string, unknown>): ReplyMessage {
  return { error: { code, message: errorCatalogue[code].message, ...(details === undefined ? {} : { details }) } }
}

function respond(message: Msg, reply: ReplyMessage): void {
  if (message.reply) message.respond(JSON.stringify(reply))
}
