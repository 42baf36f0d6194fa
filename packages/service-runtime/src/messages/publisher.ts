import {
  type EventMessage,
  eventEnvelope,
  eventStream,
  eventSubject,
  eventSubjects,
  headerNames,
} from '@backoffice/contracts'
import {
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { type NatsConnection, headers as natsHeaders } from '@nats-io/transport-node'
import { context, SpanKind, trace } from '@opentelemetry/api'
import type { DatabaseHistory } from '../database/history.ts'
import type { Interceptor } from '../process/steps.ts'
import { validateAsReader } from '../validation/validate.ts'
import { injectTrace } from './tracing.ts'

const publishTimeoutMs = 5_000
/**
 * The stream drops a second copy of an event within this time. Later copies are dropped by the inboxes of consumers.
 */
const deduplicationMs = 10 * 60_000
const streamMaxAgeMs = 14 * 24 * 3_600_000
const nanosPerMs = 1_000_000

const tracer = trace.getTracer('events')

export interface PublisherOptions {
  /** Of the stream, when it is created. */
  readonly replicas: number
  /** Of the database that the events come from. */
  readonly history: DatabaseHistory
  readonly intercept?: Interceptor | undefined
}

/** Publishes events to JetStream, and creates the stream if it is missing. */
export class EventPublisher {
  readonly #connection: NatsConnection
  readonly #client: JetStreamClient
  readonly #options: PublisherOptions

  constructor(connection: NatsConnection, options: PublisherOptions) {
    this.#connection = connection
    this.#client = jetstream(connection, { timeout: publishTimeoutMs })
    this.#options = options
  }

  /** Resolves once the stream has stored the event, or says that it has it already. */
  async publish(event: EventMessage, requestId: string): Promise<void> {
    // It was validated when it was stored, by a process that may be of the next release.
    const issues = validateAsReader(eventEnvelope(event.type), event)
    if (issues !== null) throw new Error(`the event ${event.type} is not valid: ${JSON.stringify(issues)}`)
    const span = tracer.startSpan(`publish ${event.type}`, { kind: SpanKind.PRODUCER })
    const headers = natsHeaders()
    headers.set(headerNames.requestId, requestId)
    injectTrace(headers, trace.setSpan(context.active(), span))
    try {
      // A database that went back to an earlier moment may have forgotten that a consumer handled the event. Then the
      // stream must not drop it as a copy of what that consumer has acknowledged.
      const msgID = `${event.id}-${await this.#options.history.name()}`
      const send = () => this.#client.publish(eventSubject(event.type), JSON.stringify(event), { msgID, headers })
      await (this.#options.intercept?.({ kind: 'publish', name: event.type }, send) ?? send())
    } finally {
      span.end()
    }
  }

  /**
   * Creates the stream if it is missing.
   * @returns when it was created: another time means another, empty stream
   */
  async ensureStream(): Promise<string> {
    const manager = await jetstreamManager(this.#connection, { checkAPI: false, timeout: publishTimeoutMs })
    const info = (await findStream(manager)) ?? (await this.#addStream(manager))
    return info.created
  }

  async #addStream(manager: JetStreamManager): Promise<{ created: string }> {
    try {
      return await manager.streams.add({
        name: eventStream,
        subjects: [eventSubjects],
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        num_replicas: this.#options.replicas,
        max_age: streamMaxAgeMs * nanosPerMs,
        duplicate_window: deduplicationMs * nanosPerMs,
      })
    } catch (error) {
      // Another service was quicker.
      const existing = await findStream(manager)
      if (existing === null) throw error
      return existing
    }
  }
}

async function findStream(manager: JetStreamManager): Promise<{ created: string } | null> {
  try {
    return await manager.streams.info(eventStream)
  } catch (error) {
    if (error instanceof Error && /stream not found/i.test(error.message)) return null
    throw error
  }
}
