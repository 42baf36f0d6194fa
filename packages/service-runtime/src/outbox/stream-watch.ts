import { eventStream } from '@backoffice/contracts'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { NatsConnection } from '@nats-io/transport-node'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { sqlOf } from '../commands/unit-of-work.ts'
import type { Logger } from '../log.ts'
import type { EventPublisher } from './publisher.ts'
import type { Relay } from './relay.ts'

export interface StreamWatchParts {
  readonly orm: MikroORM
  readonly connection: NatsConnection
  readonly publisher: EventPublisher
  readonly relay: Relay
  readonly clock: Clock
  readonly log: Logger
}

/** After a reconnect these minutes are published again: the server may have lost what it had not yet synced to disk. */
const republishMs = 5 * 60_000
const checkMs = 30_000

/**
 * Keeps the stream whole: creates it where it is missing, publishes the last minutes again after each reconnect, and
 * rebuilds it from the retained outbox rows when it is not the one that was published to.
 */
export class StreamWatch {
  readonly #parts: StreamWatchParts
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined

  constructor(parts: StreamWatchParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    await this.check()
    this.#timer = setInterval(() => void this.#checkSoftly(), checkMs)
    void this.#followReconnects()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#checking
  }

  async check(): Promise<void> {
    const { orm, publisher, relay, log } = this.#parts
    const created = await publisher.ensureStream()
    // The row's lock makes one replica the one that rebuilds.
    const { rows } = await sql<{ previous: string | null }>`
      with before as (select created from stream_seen where stream = ${eventStream} for update)
      insert into stream_seen (stream, created) values (${eventStream}, ${created})
      on conflict (stream) do update set created = excluded.created where stream_seen.created <> excluded.created
      returning (select created from before) as previous
    `.execute(sqlOf(orm.em.fork()))
    const previous = rows[0]?.previous
    if (previous === undefined || previous === null) return
    const count = await relay.republish({ since: new Date(0) })
    log.error({ stream: eventStream, events: count }, 'the stream was lost; it is rebuilt from the retained events')
  }

  async #followReconnects(): Promise<void> {
    for await (const status of this.#parts.connection.status()) {
      if (status.type !== 'reconnect') continue
      await this.#checkSoftly()
      const since = new Date(this.#parts.clock.now().getTime() - republishMs)
      await this.#parts.relay
        .republish({ since })
        .catch((error) => this.#parts.log.warn({ err: error }, 'the last minutes were not republished'))
    }
  }

  #checkSoftly(): Promise<void> {
    this.#checking = this.check().catch((error) =>
      this.#parts.log.warn({ err: error }, 'the stream could not be checked'),
    )
    return this.#checking
  }
}
