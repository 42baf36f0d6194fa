import {
  headerNames,
  type Input,
  type Operation,
  Rejection,
  type Reply,
  rpcSubject,
  type Scope,
  teamSubject,
  timeoutMsDefault,
} from '@backoffice/contracts'
import { type NatsConnection, headers as natsHeaders } from '@nats-io/transport-node'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { newId } from '../process/ids.ts'
import { endOfTurn } from '../process/turn.ts'
import { inputSchema, validate, validateAsReader } from '../validation/validate.ts'
import { injectTrace } from './tracing.ts'
import { bodyBytes, type ReplyMessage } from './wire.ts'

export interface CallOptions<O extends Operation> {
  readonly input: Input<O>
  /** The operator and brand that the call acts for. Every operation but the team's needs it. */
  readonly scope?: Scope
  /** Names the effect: a command runs once per operation id. Without one a new id is made. */
  readonly operationId?: string
  readonly requestId?: string
  /** When the caller stops waiting; the operation's own time-out bounds it too. */
  readonly deadline?: Date
}

/** A reply, and the bytes that the service wrote. */
export interface CallResult<O extends Operation> {
  readonly body: Reply<O>
  readonly bytes: Uint8Array
}

const tracer = trace.getTracer('rpc')

/** Calls operations over NATS request/reply. */
export class RpcClient {
  readonly #connection: NatsConnection
  readonly #teamUser: string | undefined

  /** @param teamUser the NATS user, for a client that calls the team's operations */
  constructor(connection: NatsConnection, teamUser?: string) {
    this.#connection = connection
    this.#teamUser = teamUser
  }

  /**
   * @throws {Rejection} what the service refused with; SERVICE_UNAVAILABLE when no reply came in time: the outcome is
   *   unknown; VALIDATION_ERROR when the input does not fit the operation
   */
  async call<O extends Operation>(operation: O, options: CallOptions<O>): Promise<Reply<O>> {
    return (await this.request(operation, options)).body
  }

  /** Like `call`, with the bytes of the reply, for a caller that passes them on. */
  async request<O extends Operation>(operation: O, options: CallOptions<O>): Promise<CallResult<O>> {
    const issues = validate(inputSchema(operation), options.input)
    if (issues !== null) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
    return tracer.startActiveSpan(`${operation.service}.${operation.id}`, { kind: SpanKind.CLIENT }, async (span) => {
      try {
        return (await this.#send(operation, options)) as CallResult<O>
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Rejection ? error.code : 'failed' })
        throw error
      } finally {
        span.end()
      }
    })
  }

  async #send(operation: Operation, options: CallOptions<Operation>): Promise<CallResult<Operation>> {
    const { deadline, operationId, requestId, scope, input } = options
    const timeoutMs = Math.min(
      operation.timeoutMs ?? timeoutMsDefault,
      deadline === undefined ? Number.POSITIVE_INFINITY : deadline.getTime() - Date.now(),
    )
    if (timeoutMs <= 0) throw new Rejection('SERVICE_UNAVAILABLE')
    const headers = natsHeaders()
    headers.set(headerNames.operationId, operationId ?? newId('opn'))
    headers.set(headerNames.requestId, requestId ?? newId('req'))
    // A duration, because the clocks of two machines may differ. The moment is for services of the release before.
    headers.set(headerNames.timeoutMs, String(Math.floor(timeoutMs)))
    headers.set(headerNames.deadline, String(Date.now() + Math.floor(timeoutMs)))
    injectTrace(headers)
    const subject =
      operation.audience === 'team' ? teamSubject(this.#teamUser ?? 'nobody', operation) : rpcSubject(operation)
    const message = await this.#exchange(subject, JSON.stringify({ scope, input }), {
      timeout: Math.ceil(timeoutMs),
      headers,
    })
    const reply = message.json<ReplyMessage>()
    if ('error' in reply) throw new Rejection(reply.error.code, reply.error.details)
    const issues = validateAsReader(operation.reply, reply.body)
    if (issues !== null) {
      const cause = new Error(`the reply of ${operation.id} is not valid: ${JSON.stringify(issues)}`)
      throw new Rejection('INTERNAL_ERROR', undefined, { cause })
    }
    return { body: reply.body as never, bytes: bodyBytes(message.data) }
  }

  async #exchange(subject: string, payload: string, options: Parameters<NatsConnection['request']>[2]) {
    await endOfTurn()
    try {
      return await this.#connection.request(subject, payload, options)
    } catch (cause) {
      // No responder, a time-out or a lost connection: whatever it was, the outcome is unknown.
      throw new Rejection('SERVICE_UNAVAILABLE', undefined, { cause })
    }
  }
}
