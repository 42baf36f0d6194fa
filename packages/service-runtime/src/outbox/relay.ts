import { type Logger, Loop } from '@backoffice/process'
import type { Database } from '../database/db.ts'
import type { EventPublisher } from '../messages/publisher.ts'
import type { RpcClient } from '../messages/rpc-client.ts'
import {
  type LeasedRow,
  leaseDue,
  markDone,
  type OutboxKind,
  opened,
  release,
  sendCommand,
  sendEvent,
} from './store.ts'

export interface RelayContext {
  readonly db: Database
  readonly rpc: RpcClient
  readonly publisher: EventPublisher
  readonly log: Logger
}

const retryDelayMsMin = 250
const retryDelayMsMax = 60_000
/** From this many attempts on, each failure of a row is logged as an error. */
const alarmAttempts = 5
/** What a crashed or disconnected replica left is found within this time; everything else is nudged. */
const pollMs = 1_000

/** How long a row waits after a failure. The wait grows with each failure, and no row is ever given up. */
export const retryDelayMs = (attempts: number): number =>
  Math.min(retryDelayMsMax, retryDelayMsMin * 2 ** Math.min(attempts, 16))

/**
 * Sends what nobody else does: rows whose process died or could not send them, rows that wait behind others, and rows
 * of work that no request asked for. Events go to JetStream, commands to their service.
 */
export class Relay {
  readonly #context: RelayContext
  /** One for each kind, so that an unavailable service delays no event. */
  readonly #loops: Readonly<Record<OutboxKind, Loop>>

  constructor(context: RelayContext) {
    this.#context = context
    const loop = (kind: OutboxKind) =>
      new Loop({ name: `outbox ${kind}s`, log: context.log, everyMs: pollMs, run: () => this.#sendBatch(kind) })
    this.#loops = { event: loop('event'), command: loop('command') }
  }

  start(): void {
    for (const loop of Object.values(this.#loops)) loop.start()
  }

  /** Finishes what is under way and what is already known to wait. */
  async stop(): Promise<void> {
    await this.#loops.command.stop()
    await this.#loops.event.stop()
  }

  /** Rows were committed that are the relay's to send: look now instead of at the next poll. */
  nudge(...kinds: OutboxKind[]): void {
    for (const kind of kinds) this.#loops[kind].nudge()
  }

  /** @returns whether any row could be sent: then there may be more */
  async #sendBatch(kind: OutboxKind): Promise<boolean> {
    const { db } = this.#context
    const rows = await leaseDue(db, kind)
    const outcomes = await Promise.allSettled(rows.map((row) => this.#send(row)))
    const sent: LeasedRow[] = []
    const failed: { row: LeasedRow; error: unknown }[] = []
    outcomes.forEach((outcome, index) => {
      const row = rows[index] as LeasedRow
      if (outcome.status === 'fulfilled') sent.push(row)
      else failed.push({ row, error: outcome.reason })
    })
    if (sent.length > 0 && (await markDone(db, sent))) this.nudge('command', 'event')
    if (failed.length > 0) await this.#giveBack(failed)
    return sent.length > 0
  }

  async #send(stored: LeasedRow): Promise<void> {
    const { db, rpc, publisher } = this.#context
    const row = opened(db.vault, stored)
    return row.kind === 'event' ? sendEvent(publisher, row) : sendCommand(rpc, row)
  }

  async #giveBack(failed: readonly { readonly row: LeasedRow; readonly error: unknown }[]): Promise<void> {
    const { db, log } = this.#context
    for (const { row, error } of failed) {
      const level = row.attempts >= alarmAttempts ? 'error' : 'warn'
      log[level](
        { outboxId: row.id, subject: row.name, attempts: row.attempts, err: error },
        'an outbox row was not sent; it is tried again',
      )
    }
    await release(
      db,
      failed.map(({ row, error }) => ({ id: row.id, delayMs: retryDelayMs(row.attempts), error })),
    )
  }
}
