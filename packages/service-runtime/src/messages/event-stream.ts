import {
  consumerApi,
  consumerName,
  type EventConsumerEntry,
  type EventKind,
  type EventMessage,
  type Expectation,
  eventEnvelope,
  eventKinds,
  eventStream,
  eventSubject,
  expectedConsumer,
  expectedStream,
  headerNames,
  streamNews,
} from '@backoffice/contracts'
import type { Interceptor, ReadDb } from '@backoffice/database'
import { type Logger, limitsMs } from '@backoffice/process'
import { askJetStream, differencesFrom, injectTrace, type JetStreamInfo, validateAsReader } from '@backoffice/rpc'
import { type JetStreamClient, jetstream } from '@nats-io/jetstream'
import { type NatsConnection, headers as natsHeaders } from '@nats-io/transport-node'
import { context, SpanKind, trace } from '@opentelemetry/api'

const knownKinds: ReadonlySet<string> = new Set(eventKinds)

/** Why a message is no event that can be handled here. */
export interface Unreadable {
  readonly fault: string
  /** False: no release of ours sends such a message, so no other replica can read it either. */
  readonly mayBeNewer: boolean
}

/** The event of a message's payload, or why it is none. @param subject what the message was published under */
export function readEvent(payload: string, subject: string): EventMessage | Unreadable {
  let event: EventMessage
  try {
    event = JSON.parse(payload) as EventMessage
  } catch {
    return { fault: 'the payload is not JSON', mayBeNewer: false }
  }
  const type: unknown = event?.type
  // Who may publish one kind may not speak of another.
  if (subject !== eventSubject(type as EventKind))
    return { fault: `the event type ${String(type)} is not that of its subject`, mayBeNewer: false }
  if (!knownKinds.has(event.type)) return { fault: `unknown event type: ${type}`, mayBeNewer: true }
  const issues = validateAsReader(eventEnvelope(event.type), event)
  return issues === null ? event : { fault: `the event is not valid: ${JSON.stringify(issues)}`, mayBeNewer: true }
}

/** The stream, or a consumer of it, is missing or is not configured as it must be. */
export class StreamFault extends Error {
  override readonly name = 'StreamFault'
}

type State = 'unknown' | 'right' | 'missing' | 'different'

/**
 * The stream as this service finds it. A service makes and changes nothing there. It uses the stream only after it has
 * compared its whole configuration, because JetStream sends on whatever a configuration says, to any subject and with
 * rights of its own.
 */
export class EventStream {
  readonly #connection: NatsConnection
  readonly #replicasMin: number
  readonly #log: Logger
  /** Of the stream and of each consumer, by name. */
  readonly #states = new Map<string, State>()
  #wasFound = false
  #checking: Promise<string> | undefined

  constructor(options: { readonly connection: NatsConnection; readonly replicasMin: number; readonly log: Logger }) {
    this.#connection = options.connection
    this.#replicasMin = options.replicasMin
    this.#log = options.log
  }

  /** Whether the stream was ever as it must be. A process that never reached it may be connected wrongly, and would publish nothing. */
  get wasFound(): boolean {
    return this.#wasFound
  }

  /** Whether anything was found that is configured otherwise than it must be. */
  get differs(): boolean {
    return [...this.#states.values()].includes('different')
  }

  /** While there is no connection, somebody may put another stream in its place. */
  doubt(): void {
    if (this.#states.get(eventStream) === 'right') this.#states.set(eventStream, 'unknown')
  }

  /**
   * Resolves when the stream may be used. Asks its keeper unless the last check found it right.
   * @throws {StreamFault}
   */
  async assertUsable(): Promise<void> {
    if (this.#states.get(eventStream) !== 'right') await this.check()
  }

  /**
   * Compares the stream with what it must be.
   * @returns when it was created
   * @throws {StreamFault}
   */
  check(): Promise<string> {
    this.#checking ??= this.#hear()
      .then((info) => this.#compare(eventStream, info, expectedStream(this.#replicasMin)))
      .then(({ created }) => {
        this.#wasFound = true
        return created
      })
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  /**
   * Compares a consumer with what it must be.
   * @throws {StreamFault}
   */
  async checkConsumer(consumer: EventConsumerEntry): Promise<void> {
    const info = await askJetStream(this.#connection, consumerApi(consumer).info)
    this.#compare(consumerName(consumer), info, expectedConsumer(consumer))
  }

  /** What the keeper of the stream finds next. It is asked not to wait until it looks by itself. */
  async #hear(): Promise<JetStreamInfo | null> {
    const heard = this.#connection.subscribe(streamNews.found, { max: 1, timeout: limitsMs.jetStream })
    this.#connection.publish(streamNews.ask)
    for await (const message of heard) return message.json<JetStreamInfo | null>()
    throw new Error('the connection ended before the keeper of the stream said what it found')
  }

  #compare(name: string, info: JetStreamInfo | null, expected: Expectation): JetStreamInfo {
    const before = this.#states.get(name)
    if (info === null) {
      this.#states.set(name, 'missing')
      if (before !== 'missing')
        this.#log.error({ stream: name }, `${name} is missing in JetStream; waiting until it is made`)
      throw new StreamFault(`${name} is missing in JetStream`)
    }
    const differences = differencesFrom(expected, info.config)
    if (differences.length > 0) {
      this.#states.set(name, 'different')
      if (before !== 'different')
        this.#log.error(
          { stream: name, differences },
          `${name} in JetStream differs from its configuration; nothing is published or consumed until that is mended`,
        )
      throw new StreamFault(`${name} in JetStream differs from its configuration: ${differences.join('; ')}`)
    }
    this.#states.set(name, 'right')
    if (before === 'missing' || before === 'different')
      this.#log.info({ stream: name }, `${name} in JetStream is as it must be again`)
    return info
  }
}

/**
 * Names the history that the database is on: which PostgreSQL, and which of its timelines. A standby that was promoted
 * and a copy that was restored begin a new one. Both may have forgotten what was committed last, although others have
 * heard of it.
 */
export class DatabaseHistory {
  readonly #db: ReadDb
  #name: string | undefined

  constructor(db: ReadDb) {
    this.#db = db
  }

  /** As it was when it was read last; read now when it never was. */
  async name(): Promise<string> {
    return this.#name ?? (await this.#read())
  }

  /** @returns whether the database has changed to another history since it was read last */
  async hasChanged(): Promise<boolean> {
    const before = this.#name
    const now = await this.#read()
    return before !== undefined && before !== now
  }

  async #read(): Promise<string> {
    const [row] = await this.#db<{ name: string }>`
      select system_identifier || '-' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as name from pg_control_system()
    `
    if (row === undefined) throw new Error('PostgreSQL does not say which history it is on')
    this.#name = row.name
    return row.name
  }
}

const tracer = trace.getTracer('events')

export interface PublisherOptions {
  readonly stream: EventStream
  /** Of the database that the events come from. */
  readonly history: Pick<DatabaseHistory, 'name'>
  readonly intercept?: Interceptor | undefined
}

export class EventPublisher {
  readonly #client: JetStreamClient
  readonly #options: PublisherOptions

  constructor(connection: NatsConnection, options: PublisherOptions) {
    this.#client = jetstream(connection, { timeout: limitsMs.jetStream })
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
   * A database that went back to an earlier moment may have forgotten that a consumer handled the event. Then the stream must
   * not drop it as a copy of what that consumer has acknowledged.
   */
  async #messageId(eventId: string): Promise<string> {
    return `${eventId}-${await this.#options.history.name()}`
  }
}
