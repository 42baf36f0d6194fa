import { type EventMessage, eventStream } from '@backoffice/contracts'
import type { StoredMessage } from '@backoffice/database/vault'
import type { Timer } from '@backoffice/process'
import type { ConsumerContext } from '../messages/consumer.ts'
import { type DatabaseHistory, type EventPublisher, StreamFault } from '../messages/event-stream.ts'
import { type EventRow, opened, sendEvent } from './store.ts'

export interface StreamWatchContext extends Pick<ConsumerContext, 'db' | 'nats' | 'stream' | 'log' | 'timers'> {
  readonly history: DatabaseHistory
  readonly publisher: EventPublisher
}

/**
 * What was published this long before a connection was lost is published again, because the server may not have synced it to
 * disk. So it is for what was published this long before the database went back: the stream knows it under the name of
 * the history before, and the database may have forgotten who has handled it.
 */
const republishMs = 5 * 60_000
/** How soon it is noticed that the stream was changed. */
const checkMs = 5_000
const retryMs = 1_000
const batchMax = 200
/** How soon webhooks gets what it has not heard of. */
const unheardMs = 30_000
/** Until then the stream takes an event that it had for a copy. */
const unheardAgainMs = 12 * 60_000

/** A place in the order in which events were published. Ids of one moment are in the order in which they were written. */
type Position = { readonly publishedAt: Date; readonly id: string }

type PublishedRow = Position & { readonly message: StoredMessage & { readonly event: EventMessage } }

/**
 * Keeps the stream full: publishes again what it lacks of the last minutes after each reconnect and when the database was
 * restored or a standby of it promoted, and everything that is retained when the stream is not the one that was published
 * to. The stream drops what it still has, and consumers know what they have seen. A stream that is missing, or configured otherwise
 * than it must be, is waited for.
 */
export class StreamWatch {
  readonly #context: StreamWatchContext
  #timer: Timer | undefined
  #working: Promise<void> = Promise.resolve()
  /**
   * What was published from here on may be lost; undefined: nothing is in doubt. A time of the process's monotonic
   * clock, because the process's wall clock may differ from PostgreSQL's, and step.
   */
  #doubtSince: number | undefined
  /** Not until PostgreSQL has said what was published before this process started, or before the database went back. */
  #knowsPast = false
  #stopped = false
  #unheardAt = Number.NEGATIVE_INFINITY
  /** When what webhooks still has not heard of was published again, on the process's monotonic clock. */
  #publishedAgain = new Map<string, number>()

  constructor(context: StreamWatchContext) {
    this.#context = context
  }

  /** Checks the stream from now on. A service starts even while the broker is unavailable. */
  async start(): Promise<void> {
    void this.#followConnection()
    await this.#context.stream.check().catch((error) => this.#warn(error))
    this.#checkSoon()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#context.timers.clearTimeout(this.#timer)
    await this.#working
  }

  async #work(): Promise<void> {
    this.#context.timers.clearTimeout(this.#timer)
    let delayMs = checkMs
    try {
      await this.#check()
    } catch (error) {
      delayMs = retryMs
      this.#warn(error)
    }
    if (this.#stopped) return
    this.#timer = this.#context.timers.setTimeout(() => this.#checkSoon(), delayMs)
  }

  /** What is wrong with the stream itself has been logged, once. */
  #warn(error: unknown): void {
    if (this.#stopped || error instanceof StreamFault) return
    this.#context.log.warn({ err: error }, 'the stream could not be checked; it is tried again')
  }

  /** One check at a time. */
  #checkSoon(): void {
    this.#working = this.#working.then(() => (this.#stopped ? undefined : this.#work()))
  }

  async #check(): Promise<void> {
    if (await this.#context.history.hasChanged()) this.#knowsPast = false
    if (!this.#knowsPast) {
      this.#doubt(await this.#lastPublished())
      this.#knowsPast = true
    }
    const created = await this.#context.stream.check()
    // Cleared before the work, because a connection that is lost meanwhile raises a new doubt.
    const since = this.#doubtSince
    this.#doubtSince = undefined
    try {
      await this.#makeWhole(created, since)
    } catch (error) {
      this.#doubt(since)
      throw error
    }
    await this.#publishUnheard()
  }

  /**
   * Publishes again what was published and webhooks has never heard of: a full stream drops its oldest events, heard or not.
   */
  async #publishUnheard(): Promise<void> {
    const { db, log, publisher, timers } = this.#context
    const now = timers.monotonic()
    if (now - this.#unheardAt < unheardMs) return
    this.#unheardAt = now
    const unheard = await db<Position>`select published_at, id from unheard_events()`
    const isDue = (id: string) => now - (this.#publishedAgain.get(id) ?? Number.NEGATIVE_INFINITY) >= unheardAgainMs
    const due = unheard.filter(({ id }) => isDue(id))
    if (due.length > 0) {
      const rows = await db<PublishedRow>`
        select u.published_at, u.id, e.message from unheard_events() u cross join lateral (
          select message from published_event where published_at = u.published_at and id = u.id limit 1
        ) e where u.id = any(${due.map(({ id }) => id)}::text[]) order by u.published_at, u.id
      `
      for (let first = 0; first < rows.length; first += batchMax)
        await Promise.all(rows.slice(first, first + batchMax).map((row) => sendEvent(publisher, this.#eventOf(row))))
      log.warn({ events: rows.length }, 'webhooks has not heard of events: they are published again')
    }
    this.#publishedAgain = new Map(
      unheard.map(({ id }) => [id, isDue(id) ? now : (this.#publishedAgain.get(id) as number)]),
    )
  }

  async #makeWhole(created: string, doubtSince: number | undefined): Promise<void> {
    const { db, log } = this.#context
    const [known] = await db<{ created: string; now: Date }>`
      select created, clock_timestamp() as now from stream_seen where stream = ${eventStream}
    `
    if (known?.created === created) {
      if (doubtSince !== undefined) {
        const ageMs = this.#context.timers.monotonic() - doubtSince
        await this.#republish(new Date(known.now.getTime() - ageMs))
      }
      return
    }
    // Stored only afterwards: if this process dies in between, the next one rebuilds the stream. Two at once do no
    // harm.
    if (known !== undefined) {
      log.error({ stream: eventStream }, 'the stream was lost; it is rebuilt from the retained events')
      const events = await this.#republish(new Date(0))
      log.info({ stream: eventStream, events }, 'the stream is rebuilt')
    }
    await db`
      insert into stream_seen (stream, created) values (${eventStream}, ${created})
      on conflict (stream) do update set created = excluded.created
    `
  }

  #doubt(since: number | undefined): void {
    if (since !== undefined && (this.#doubtSince === undefined || since < this.#doubtSince)) this.#doubtSince = since
  }

  async #followConnection(): Promise<void> {
    for await (const { type } of this.#context.nats.status()) {
      if (type === 'disconnect') {
        this.#context.stream.doubt()
        this.#doubt(this.#context.timers.monotonic() - republishMs)
      }
      if (type === 'reconnect') this.#checkSoon()
    }
  }

  /** Service and broker may have gone down together with their machine, so the latest events are in doubt too. */
  async #lastPublished(): Promise<number | undefined> {
    const [row] = await this.#context.db<{ last: Date | null; now: Date }>`
      select (select max(published_at) from published_event) as last, clock_timestamp() as now
    `
    if (row === undefined || row.last === null) return undefined
    return this.#context.timers.monotonic() - (row.now.getTime() - row.last.getTime()) - republishMs
  }

  /** Publishes again what was published since then, in the same order, page by page. */
  async #republish(since: Date): Promise<number> {
    let count = 0
    let after: Position = { publishedAt: since, id: '' }
    for (;;) {
      if (this.#stopped) throw new Error('stopped while publishing again')
      const rows = await this.#context.db<PublishedRow>`
        select published_at, id, message from published_event
        where (published_at, id) > (${after.publishedAt}::timestamptz, ${after.id})
        order by published_at, id limit ${batchMax}
      `
      await Promise.all(rows.map((row) => sendEvent(this.#context.publisher, this.#eventOf(row))))
      count += rows.length
      const last = rows.at(-1)
      if (last === undefined || rows.length < batchMax) return count
      after = last
    }
  }

  #eventOf({ id, message }: PublishedRow): EventRow {
    return opened(this.#context.db.vault, {
      id,
      aggregate: id,
      kind: 'event',
      name: message.event.type,
      message,
    }) as EventRow
  }
}
