import { type EventKind, type EventMessage, eventEnvelope, eventSubject, headerNames } from '@backoffice/contracts'
import { JetStreamApiError, type JetStreamClient, jetstream } from '@nats-io/jetstream'
import { type NatsConnection, headers as natsHeaders } from '@nats-io/transport-node'
import { context, SpanKind, trace } from '@opentelemetry/api'
import type { DatabaseHistory } from '../database/history.ts'
import type { Interceptor } from '../database/steps.ts'
import { validateAsReader } from '../validation/validate.ts'
import type { EventStream } from './event-stream.ts'
import { injectTrace } from './wire.ts'

const publishTimeoutMs = 5_000

/** JetStream's code. */
const wrongLastSequence = 10_071

const tracer = trace.getTracer('events')

export interface PublisherOptions {
  readonly stream: EventStream
  /** A kind of event that the service may publish, if there is one. What is asked for may be of another. */
  readonly asksAs?: EventKind | undefined
  /** Of the database that the events come from. */
  readonly history: Pick<DatabaseHistory, 'name'>
  readonly intercept?: Interceptor | undefined
}

/** Publishes events to JetStream. */
export class EventPublisher {
  readonly #client: JetStreamClient
  readonly #options: PublisherOptions

  constructor(connection: NatsConnection, options: PublisherOptions) {
    this.#client = jetstream(connection, { timeout: publishTimeoutMs })
    this.#options = options
  }

  /**
   * Resolves once the stream has stored the event, or says that it has it already.
   * @throws {StreamFault} when the stream is missing, or not configured as it must be
   */
  async publish(event: EventMessage, requestId: string): Promise<void> {
    // It was validated when it was stored, by a process that may be of the next release.
    const issues = validateAsReader(eventEnvelope(event.type), event)
    if (issues !== null) throw new Error(`the event ${event.type} is not valid: ${JSON.stringify(issues)}`)
    await this.#options.stream.assertUsable()
    const span = tracer.startSpan(`publish ${event.type}`, { kind: SpanKind.PRODUCER })
    const headers = natsHeaders()
    headers.set(headerNames.requestId, requestId)
    injectTrace(headers, trace.setSpan(context.active(), span))
    try {
      const msgID = await this.#messageId(event.id)
      const send = () => this.#client.publish(eventSubject(event.type), JSON.stringify(event), { msgID, headers })
      await (this.#options.intercept?.({ kind: 'publish', name: event.type }, send) ?? send())
    } finally {
      span.end()
    }
  }
  /**
   * Asks the stream for an event without sending it. It looks for a copy before it looks at which message the sender expects
   * to be the last, and no message ever has that number. What is older than the stream's window for copies is not found.
   */
  async has(id: string): Promise<boolean> {
    const { asksAs, stream } = this.#options
    if (asksAs === undefined) return false
    await stream.assertUsable()
    const expect = { lastSequence: Number.MAX_SAFE_INTEGER }
    try {
      return (await this.#client.publish(eventSubject(asksAs), '', { msgID: await this.#messageId(id), expect }))
        .duplicate
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === wrongLastSequence) return false
      throw error
    }
  }

  /**
   * A database that went back to an earlier moment may have forgotten that a consumer handled the event. Then the stream must
   * not drop it as a copy of what that consumer has acknowledged.
   */
  async #messageId(eventId: string): Promise<string> {
    return `${eventId}-${await this.#options.history.name()}`
  }
}
