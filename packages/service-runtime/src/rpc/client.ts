import { type Input, type Operation, Rejection, type Reply, type Scope } from '@backoffice/contracts'
import { type NatsConnection, headers as natsHeaders } from '@nats-io/transport-node'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { newId } from '../ids.ts'
import { inputSchema, validate } from '../validation.ts'
import { headerNames, type ReplyMessage, rpcSubject, teamSubject, timeoutMsDefault } from './wire.ts'

export interface CallOptions<O extends Operation> {
  readonly input: Input<O>
  /** Whom the call acts for; all but the team's operations need it. */
  readonly scope?: Scope
  /** Names the effect: a command is done once per operation id. Made anew when absent. */
  readonly operationId?: string
  readonly requestId?: string
  /** When the caller stops waiting; the operation's own time-out bounds it too. */
  readonly deadline?: Date
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
   * @throws {Rejection} what the service refused with; SERVICE_UNAVAILABLE when nobody answered in time, so that the
   *   outcome is unknown; VALIDATION_ERROR when the input does not fit the operation
   */
  async call<O extends Operation>(operation: O, options: CallOptions<O>): Promise<Reply<O>> {
    const issues = validate(inputSchema(operation), options.input)
    if (issues !== null) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
    return tracer.startActiveSpan(`${operation.service}.${operation.id}`, { kind: SpanKind.CLIENT }, async (span) => {
      try {
        return (await this.#request(operation, options)) as Reply<O>
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Rejection ? error.code : 'failed' })
        throw error
      } finally {
        span.end()
      }
    })
  }

  async #request(operation: Operation, options: CallOptions<Operation>): Promise<unknown> {
    const timeoutMs = Math.min(
      operation.timeoutMs ?? timeoutMsDefault,
      options.deadline === undefined ? Number.POSITIVE_INFINITY : options.deadline.getTime() - Date.now(),
    )
    if (timeoutMs <= 0) throw new Rejection('SERVICE_UNAVAILABLE')
    const headers = natsHeaders()
    headers.set(headerNames.operationId, options.operationId ?? newId('opn'))
    headers.set(headerNames.requestId, options.requestId ?? newId('req'))
    headers.set(headerNames.deadline, String(Date.now() + Math.floor(timeoutMs)))
    propagation.inject(context.active(), headers, { set: (carrier, key, value) => carrier.set(key, value) })
    const subject =
      operation.audience === 'team' ? teamSubject(this.#teamUser ?? 'nobody', operation) : rpcSubject(operation)
    const payload = JSON.stringify({ scope: options.scope, input: options.input })
    let reply: ReplyMessage
    try {
      reply = (await this.#connection.request(subject, payload, { timeout: Math.ceil(timeoutMs), headers })).json()
    } catch (error) {
      // No responder, a time-out or a lost connection: whatever it was, the outcome is unknown.
      throw Object.assign(new Rejection('SERVICE_UNAVAILABLE'), { cause: error })
    }
    if ('error' in reply) throw new Rejection(reply.error.code, reply.error.details)
    const issues = validate(operation.reply, reply.body)
    if (issues !== null) {
      throw Object.assign(new Rejection('INTERNAL_ERROR'), {
        cause: new Error(`the reply of ${operation.id} is not valid: ${JSON.stringify(issues)}`),
      })
    }
    return reply.body
  }
}
