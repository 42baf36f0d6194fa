import { setTimeout as wait } from 'node:timers/promises'
import {
  type EventKind,
  type EventMessage,
  eventEnvelope,
  eventKinds,
  eventStream,
  eventSubject,
  type ServiceName,
} from '@backoffice/contracts'
import type { MikroORM } from '@mikro-orm/postgresql'
import {
  AckPolicy,
  type Consumer,
  type ConsumerMessages,
  DeliverPolicy,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { CommandTools } from '../commands/handlers.ts'
import { sqlOf } from '../commands/unit-of-work.ts'
import { inTransaction } from '../database/connect.ts'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import { meter } from '../telemetry/metrics.ts'
import { validate } from '../validation.ts'

export type ReactionTools = Omit<CommandTools, 'emit' | 'send'>

/** The effect of events, in one transaction with the inbox row that makes it happen once. */
export interface Reaction {
  /** Names the durable consumer, together with the service: keep it for ever. */
  readonly name: string
  readonly kinds: readonly EventKind[]
  readonly react: (event: EventMessage, tools: ReactionTools) => Promise<void>
  /** Deliveries of one message after which it is set aside. */
  readonly deliveriesMax?: number
  /** Called after the commit. */
  readonly committed?: (event: EventMessage) => void
}

export function reaction(definition: Reaction): Reaction {
  return definition
}

const inFlightMax = 64
const ackWaitMs = 30_000
const deliveriesMaxDefault = 12
const retryDelayMsMax = 60_000
const restartDelayMs = 500
const nanosPerMs = 1_000_000
const tracer = trace.getTracer('events')
const setAside = meter.createCounter('backoffice.messages.set_aside', {
  description: 'Messages that could not be handled and wait for people',
})

export interface ConsumerParts {
  readonly service: ServiceName
  readonly orm: MikroORM
  readonly connection: NatsConnection
  readonly clock: Clock
  readonly log: Logger
}

/** Consumes events for one reaction through a durable pull consumer; replicas share it. */
export class EventConsumer {
  readonly #parts: ConsumerParts
  readonly #reaction: Reaction
  readonly #name: string
  readonly #inFlight = new Set<Promise<void>>()
  #messages: ConsumerMessages | undefined
  #running: Promise<void> | undefined
  #stopped = false

  constructor(parts: ConsumerParts, definition: Reaction) {
    this.#parts = parts
    this.#reaction = definition
    this.#name = `${parts.service}-${definition.name}`
  }

  start(): void {
    this.#running = this.#loop()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#messages?.close()
    await this.#running
    await Promise.all(this.#inFlight)
  }

  /** The stream or the server may go away at any time: the consumer is made anew until it is told to stop. */
  async #loop(): Promise<void> {
    while (!this.#stopped) {
      try {
        const consumer = await this.#ensureConsumer()
        this.#messages = await consumer.consume({
          max_messages: inFlightMax,
          expires: 10_000,
          idle_heartbeat: 2_000,
          // A broker that lost its disk has no consumer any more: the loop makes it anew.
          abort_on_missing_resource: true,
        })
        if (this.#stopped) {
          // Stopped while it began: nobody else knows of these messages. What never iterated never says that it closed.
          void this.#messages.close()
          break
        }
        for await (const message of this.#messages) this.#accept(message)
      } catch (error) {
        if (!this.#stopped)
          this.#parts.log.warn({ err: error, consumer: this.#name }, 'the event consumer stopped; it is started again')
      }
      if (!this.#stopped) await wait(restartDelayMs)
    }
  }

  async #ensureConsumer(): Promise<Consumer> {
    const { connection } = this.#parts
    const manager = await jetstreamManager(connection, { checkAPI: false })
    await manager.consumers.add(eventStream, {
      durable_name: this.#name,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: ackWaitMs * nanosPerMs,
      max_ack_pending: inFlightMax * 4,
      // 2.9 servers take a single subject; a reaction to some kinds acknowledges the others unread.
      filter_subject:
        this.#reaction.kinds.length === 1 ? eventSubject(this.#reaction.kinds[0] as EventKind) : 'events.>',
    })
    return jetstream(connection).consumers.get(eventStream, this.#name)
  }

  #accept(message: JsMsg): void {
    const task = this.#handle(message).finally(() => this.#inFlight.delete(task))
    this.#inFlight.add(task)
  }

  async #handle(message: JsMsg): Promise<void> {
    try {
      const event = parse(message)
      if (typeof event === 'string') {
        await this.#setAside(message, event)
        return
      }
      if (this.#reaction.kinds.includes(event.type)) await this.#react(event, message)
      message.ack()
    } catch (error) {
      const attempts = message.info.deliveryCount
      this.#parts.log.warn(
        { err: error, consumer: this.#name, subject: message.subject, attempts },
        'an event could not be handled',
      )
      if (attempts < (this.#reaction.deliveriesMax ?? deliveriesMaxDefault))
        message.nak(Math.min(retryDelayMsMax, 250 * 2 ** attempts))
      else
        await this.#setAside(message, error instanceof Error ? error.message : String(error)).catch(() =>
          message.nak(retryDelayMsMax),
        )
    }
  }

  async #react(event: EventMessage, message: JsMsg): Promise<void> {
    const { orm, clock, log } = this.#parts
    const parent = propagation.extract(context.active(), message.headers, {
      get: (carrier, key) => carrier?.get(key) || undefined,
      keys: (carrier) => carrier?.keys() ?? [],
    })
    const span = tracer.startSpan(`consume ${event.type}`, { kind: SpanKind.CONSUMER }, parent)
    try {
      const first = await context.with(trace.setSpan(parent, span), () =>
        inTransaction(orm, async (em) => {
          const connection = sqlOf(em)
          const now = clock.now()
          const received = await sql`
            insert into inbox (consumer, event_id, received_at) values (${this.#reaction.name}, ${event.id}, ${now}::timestamptz)
            on conflict do nothing returning true
          `.execute(connection)
          if (received.rows.length === 0) return false
          await this.#reaction.react(event, { em, sql: connection, now, newId, log: log.child({ eventId: event.id }) })
          await em.flush()
          return true
        }),
      )
      if (first) this.#reaction.committed?.(event)
    } finally {
      span.end()
    }
  }

  /** A message that cannot be handled is kept for people to look at, and never loops. */
  async #setAside(message: JsMsg, fault: string): Promise<void> {
    const { orm, clock, log } = this.#parts
    await sql`
      insert into set_aside_message (consumer, subject, payload, fault, set_aside_at)
      values (${this.#reaction.name}, ${message.subject}, ${message.string().replaceAll('\u0000', '\uFFFD')}, ${fault}, ${clock.now()}::timestamptz)
    `.execute(sqlOf(orm.em.fork()))
    log.error({ consumer: this.#name, subject: message.subject, fault }, 'a message was set aside')
    setAside.add(1, { consumer: this.#name })
    message.term()
  }
}

const knownKinds: ReadonlySet<string> = new Set(eventKinds)

/** The event of a message, or what is wrong with it. */
function parse(message: JsMsg): EventMessage | string {
  let event: EventMessage
  try {
    event = message.json<EventMessage>()
  } catch {
    return 'the payload is not JSON'
  }
  if (!knownKinds.has(event?.type)) return `unknown event type: ${String(event?.type)}`
  const issues = validate(eventEnvelope(event.type), event)
  return issues === null ? event : `the event is not valid: ${JSON.stringify(issues)}`
}
