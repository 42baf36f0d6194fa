import assert from 'node:assert/strict'
import {
  consumerName,
  type EventConsumerEntry,
  type EventKind,
  type EventMessage,
  eventConsumers,
  eventStream,
  type ServiceName,
  unacknowledgedMax,
} from '@backoffice/contracts'
import type { Database, Db, TransactionOptions } from '@backoffice/database'
import { batchFaultOf } from '@backoffice/database'
import { placeOfPayload } from '@backoffice/database/vault'
import { type Clock, type Logger, Loop, meter, patiently, pause, type Timers } from '@backoffice/process'
import { extractTrace, traceparentOf } from '@backoffice/rpc'
import { type Consumer, type ConsumerMessages, type JsMsg, jetstream, PubHeaders } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { context, SpanKind, trace } from '@opentelemetry/api'
import { Batcher } from '../batcher.ts'
import { type EventStream, readEvent, StreamFault, type Unreadable } from './event-stream.ts'

export interface ReactionTools {
  readonly db: Db
  readonly now: Date
  readonly log: Logger
}

/** An event, with the trace of the message that brought it. */
export interface ReceivedEvent {
  readonly event: EventMessage
  readonly traceparent: string | null
}

/** The effect of events, in one transaction with the inbox rows that make it happen once. */
export interface Reaction {
  /** Names the durable consumer, together with the service: `eventConsumers` has it. */
  readonly name: string
  readonly kinds: readonly EventKind[]
  /**
   * Handles events that came together. When one of them turns out to have been handled before, what it did is rolled back,
   * and it is called again with the others. If it throws although PostgreSQL can be reached, each event is tried alone.
   */
  readonly react: (events: readonly ReceivedEvent[], tools: ReactionTools) => Promise<void>
  /** How long one message is tried before it is set aside. */
  readonly setAsideAfterMs?: number
  /** Called after the commit. */
  readonly committed?: (events: readonly ReceivedEvent[]) => void
}

const inFlightMax = 256
const batchMax = 100
/** Longer than an outage, or than a bad release that is rolled back. */
const setAsideAfterMsDefault = 24 * 3_600_000
/**
 * Messages that wait for another try take places from the others. When so many fail in this replica, those that have
 * failed for a while are set aside.
 */
const failingMax = unacknowledgedMax / 4
const crowdedAfterMs = 15 * 60_000
/** How many messages that cannot be read here wait for a replica of the next release. */
const unreadableMax = 64
/**
 * How many messages that no service of ours has published are kept in a minute, for a person to see what they are. Whoever
 * makes JetStream write to the stream fills neither the consumer's places nor the table.
 */
const foreignPerMinuteMax = 64
const retryDelayMsMax = 60_000
const restartDelayMs = 500
/** A fault may quote the message. */
const faultLengthMax = 1_000
/** How soon it is noticed that the stream or the consumer was changed. */
const checkMs = 5_000
const tracer = trace.getTracer('events')
const setAside = meter.createCounter('backoffice.messages.set_aside', {
  description: 'Messages that could not be handled and wait for a person',
})

export interface ConsumerContext {
  readonly service: ServiceName
  readonly db: Database
  readonly nats: NatsConnection
  readonly stream: EventStream
  readonly clock: Clock
  readonly log: Logger
  readonly timers: Timers
}

type Failing = { readonly isReadable: boolean }

/**
 * How long a message is tried before it is set aside.
 * @param failing what fails in this replica, the message included
 */
export function setAsideAfterMsBeside(
  failing: readonly Failing[],
  { isReadable }: Failing,
  usualMs: number = setAsideAfterMsDefault,
): number {
  if (!isReadable && failing.filter((one) => !one.isReadable).length > unreadableMax) return 0
  return failing.length > failingMax ? Math.min(crowdedAfterMs, usualMs) : usualMs
}

/** Consumes events for one reaction through a durable pull consumer; replicas share it. */
export class EventConsumer {
  readonly #context: ConsumerContext
  readonly #reaction: Reaction
  readonly #entry: EventConsumerEntry
  readonly #name: string
  readonly #watch: Loop
  readonly #batcher: Batcher<ReceivedEvent, undefined>
  readonly #inFlight = new Set<Promise<void>>()
  /** When messages failed last, by their number in the stream, and whether they could be read. */
  readonly #failing = new Map<number, { readonly failedAt: number; readonly isReadable: boolean }>()
  #foreign = { minute: 0, count: 0 }
  #messages: ConsumerMessages | undefined
  #running: Promise<void> | undefined
  #stopped = false

  constructor(context: ConsumerContext, definition: Reaction) {
    this.#context = context
    this.#reaction = definition
    const { service, log, timers } = context
    const named = ({ service: owner, reaction }: EventConsumerEntry) =>
      owner === service && reaction === definition.name
    const entry = eventConsumers.find(named)
    assert(entry, `eventConsumers has no consumer for the reaction ${definition.name} of ${service}`)
    this.#entry = entry
    this.#name = consumerName(entry)
    const watching = { name: `watching ${this.#name}`, everyMs: checkMs, firstAfterMs: checkMs }
    this.#watch = new Loop({ ...watching, log, timers, run: () => this.#closeIfWrong() })
    this.#batcher = new Batcher({
      run: (events, { lockTimeoutMs, alone }) => this.#react(events, { lockTimeoutMs, alone }),
      batchMax,
      queueMax: unacknowledgedMax,
      // Two deliveries of one event: the second finds the first in the inbox.
      conflictKeys: ({ event }) => [event.id],
      faultOf: batchFaultOf,
      timers,
    })
  }

  start(): void {
    this.#running = this.#loop()
    this.#watch.start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    // A check under way only asks the broker, which may be away: nothing is lost with it.
    void this.#watch.stop()
    await this.#messages?.close()
    await this.#running
    await Promise.all(this.#inFlight)
  }

  /** The stream or the server may disappear at any time. It then begins again, until `stop` is called. */
  async #loop(): Promise<void> {
    while (!this.#stopped) {
      try {
        const consumer = await this.#findConsumer()
        this.#messages = await consumer.consume({
          max_messages: inFlightMax,
          expires: patiently(10_000),
          idle_heartbeat: patiently(2_000),
          // A broker that lost its disk has no consumer any more. The loop waits for the next one.
          abort_on_missing_resource: true,
        })
        if (this.#stopped) {
          // `stop` was called before these messages were there, so it did not close them. Closing is not awaited: it
          // never resolves while nobody iterates.
          void this.#messages.close()
          break
        }
        for await (const message of this.#messages) this.#accept(message)
      } catch (error) {
        // What is wrong with the stream or the consumer itself has been logged, once.
        if (!this.#stopped && !(error instanceof StreamFault))
          this.#context.log.warn(
            { err: error, consumer: this.#name },
            'the event consumer stopped; it is started again',
          )
      }
      if (!this.#stopped) await pause(this.#context.timers, restartDelayMs)
    }
  }

  /** @throws {StreamFault} when the stream or the consumer is missing, or not configured as it must be */
  async #findConsumer(): Promise<Consumer> {
    await this.#check()
    return jetstream(this.#context.nats).consumers.get(eventStream, this.#name)
  }

  async #check(): Promise<void> {
    await this.#context.stream.check()
    await this.#context.stream.checkConsumer(this.#entry)
  }

  /** Nothing more is consumed from a stream, or by a consumer, that somebody has changed. The loop waits for the right one. */
  async #closeIfWrong(): Promise<void> {
    try {
      await this.#check()
    } catch (error) {
      // While the broker is away nothing arrives either.
      if (error instanceof StreamFault) await this.#messages?.close()
    }
  }

  #accept(message: JsMsg): void {
    const task = this.#handle(message)
      // The broker could not be told either, so it delivers the message again.
      .catch((error) =>
        this.#context.log.warn(
          { err: error, consumer: this.#name },
          'a message was neither acknowledged nor returned; the broker delivers it again',
        ),
      )
      .finally(() => this.#inFlight.delete(task))
    this.#inFlight.add(task)
  }

  async #handle(message: JsMsg): Promise<void> {
    try {
      const event = readMessage(message)
      if ('fault' in event) {
        if (!event.mayBeNewer) return await this.#setAsideForeign(message, event.fault)
        throw new UnreadableEvent(event.fault)
      }
      if (this.#reaction.kinds.includes(event.type)) await this.#receive(event, message)
      message.ack()
      this.#failing.delete(message.seq)
    } catch (error) {
      const attempts = message.info.deliveryCount
      const isReadable = !(error instanceof UnreadableEvent)
      this.#failing.set(message.seq, { failedAt: this.#context.timers.monotonic(), isReadable })
      this.#context.log.warn(
        { err: error, consumer: this.#name, subject: message.subject, attempts },
        'an event could not be handled',
      )
      if (triedForMs(attempts) < this.#setAsideAfterMs(isReadable)) message.nak(retryDelayMs(attempts))
      else
        await this.#setAside(message, error instanceof Error ? error.message : String(error)).catch(() =>
          message.nak(retryDelayMsMax),
        )
    }
  }

  /** What failed elsewhere since, or is done, is forgotten after two tries. */
  #setAsideAfterMs(isReadable: boolean): number {
    const longAgo = this.#context.timers.monotonic() - 2 * retryDelayMsMax
    for (const [seq, { failedAt }] of this.#failing) if (failedAt < longAgo) this.#failing.delete(seq)
    return setAsideAfterMsBeside([...this.#failing.values()], { isReadable }, this.#reaction.setAsideAfterMs)
  }

  async #receive(event: EventMessage, message: JsMsg): Promise<void> {
    const parent = extractTrace(message.headers)
    const span = tracer.startSpan(`consume ${event.type}`, { kind: SpanKind.CONSUMER }, parent)
    try {
      const ownTrace = trace.setSpan(parent, span)
      const traceparent = traceparentOf(ownTrace)
      await context.with(ownTrace, () => this.#batcher.add({ event, traceparent }))
    } finally {
      span.end()
    }
  }

  async #react(received: readonly ReceivedEvent[], options: TransactionOptions): Promise<undefined[]> {
    const { db, clock, log } = this.#context
    const ids = received.map(({ event }) => event.id)
    const enter = (tx: Db) => enterInbox(tx, this.#reaction.name, ids)
    const handle = (tx: Db, events: readonly ReceivedEvent[]) =>
      this.#reaction.react(events, { db: tx, now: clock.now(), log })
    // Nearly always all of them are new, so they are entered in the inbox and handled in one flight.
    const reactToAll = async (tx: Db) => {
      const [entered, handled] = await Promise.allSettled([enter(tx), handle(tx, received)])
      if (entered.status === 'rejected') throw entered.reason
      if (entered.value.size < ids.length) throw new SeenBefore()
      if (handled.status === 'rejected') throw handled.reason
      return received
    }
    const reactToUnseen = async (tx: Db) => {
      const unseen = await enter(tx)
      const events = received.filter(({ event }) => unseen.has(event.id))
      if (events.length > 0) await handle(tx, events)
      return events
    }
    const fresh = await db.transaction(reactToAll, options).catch((fault) => {
      if (fault instanceof SeenBefore) return db.transaction(reactToUnseen, options)
      throw fault
    })
    if (fresh.length > 0) this.#reaction.committed?.(fresh)
    return received.map(() => undefined)
  }

  /** It takes its place no longer than it takes to write it down, and where many come only the first are written down. */
  async #setAsideForeign(message: JsMsg, fault: string): Promise<void> {
    const minute = Math.floor(this.#context.timers.monotonic() / 60_000)
    if (this.#foreign.minute !== minute) this.#foreign = { minute, count: 0 }
    this.#foreign.count += 1
    if (this.#foreign.count <= foreignPerMinuteMax) return await this.#setAside(message, fault)
    if (this.#foreign.count === foreignPerMinuteMax + 1)
      this.#context.log.error(
        { consumer: this.#name, subject: message.subject, fault },
        'messages that no service of ours published are dropped until the next minute: so many came',
      )
    setAside.add(1, { consumer: this.#name })
    message.term()
  }

  /** Keeps a message that cannot be handled for a person to look at. It is not delivered again. */
  async #setAside(message: JsMsg, why: string): Promise<void> {
    const fault = why.replaceAll('\u0000', '\uFFFD').slice(0, faultLengthMax)
    const { db, clock, log } = this.#context
    await insertSetAside(db, {
      consumer: this.#reaction.name,
      subject: message.subject,
      payload: message.string().replaceAll('\u0000', '\uFFFD'),
      fault,
      setAsideAt: clock.now(),
    })
    log.error({ consumer: this.#name, subject: message.subject, fault }, 'a message was set aside')
    setAside.add(1, { consumer: this.#name })
    message.term()
    this.#failing.delete(message.seq)
  }
}

/** The event of a message, or why it is none. What JetStream says, wherever somebody makes it speak, has no message id. */
function readMessage(message: JsMsg): EventMessage | Unreadable {
  const event = readEvent(message.string(), message.subject)
  if ('fault' in event || message.headers?.has(PubHeaders.MsgIdHdr)) return event
  return { fault: 'no service of ours published it: it has no message id', mayBeNewer: false }
}

/** It may be of the next release, and a replica of that release may read it. */
class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent'
}

/** An event of a batch is in the inbox already, so nothing of the batch may stay. */
class SeenBefore extends Error {
  override readonly name = 'SeenBefore'
}

const retryDelayMs = (attempts: number) => Math.min(retryDelayMsMax, 250 * 2 ** attempts)

/** How long a message was tried, as the sum of the delays between its deliveries. No clock has a say in it. */
function triedForMs(attempts: number): number {
  let ms = 0
  for (let attempt = 1; attempt < attempts; attempt++) ms += retryDelayMs(attempt)
  return ms
}

/**
 * Enters events in the inbox of a reaction. PostgreSQL's clock says since when they are there.
 * @returns the ids of those that were not there before
 */
export async function enterInbox(db: Db, reaction: string, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db<{ eventId: string }>`
    insert into inbox (consumer, event_id, received_at)
    select ${reaction}, id, statement_timestamp() from unnest(${eventIds}::text[]) as id order by id
    on conflict do nothing returning event_id
  `
  return new Set(rows.map(({ eventId }) => eventId))
}

/** A message that no reaction could handle, with why. */
interface UnhandledMessage {
  readonly consumer: string
  readonly subject: string
  readonly payload: string
  readonly fault: string
  readonly setAsideAt: Date
}

/** Keeps a message for a person to look at. It may be anything, so no schema says whether personal data are in it. */
async function insertSetAside(db: Database, message: UnhandledMessage): Promise<void> {
  const { consumer, subject, payload, fault, setAsideAt } = message
  const { seals } = db.vault
  await db.transaction(async (tx) => {
    const [row] = await tx<{ id: bigint }>`
      insert into set_aside_message (consumer, subject, payload, sealed, fault, set_aside_at)
      values (${consumer}, ${subject}, ${seals ? '' : payload}, ${seals}::boolean, ${fault}, ${setAsideAt}::timestamptz)
      returning id
    `
    // A payload is sealed for its row, whose id PostgreSQL has given.
    if (row !== undefined && seals)
      await tx`
        update set_aside_message set payload = ${tx.vault.seal(payload, placeOfPayload(row.id))}
        where id = ${row.id}::bigint
      `
  })
}
