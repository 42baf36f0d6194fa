import { Rejection } from '@backoffice/contracts'
import type { Database } from '@backoffice/database'
import { type Logger, Loop, pause, type Timers } from '@backoffice/process'
import type { RpcClient } from '@backoffice/rpc'
import { Batcher } from '../batcher.ts'
import type { EventPublisher } from '../messages/event-stream.ts'
import {
  type CommandRow,
  type EventRow,
  findUnfinishedOperations,
  type LeasedRow,
  leaseDue,
  markDone,
  type OutboxKind,
  type OutboxRow,
  opened,
  release,
  sendCommand,
  sendEvent,
  takeOver,
} from './store.ts'

interface SendingContext {
  readonly db: Database
  readonly rpc: RpcClient
  readonly publisher: EventPublisher
  readonly log: Logger
  readonly timers: Timers
}

const retryDelayMsMin = 250
const retryDelayMsMax = 60_000
/** From this many attempts on, each failure of a row is logged as an error. */
const alarmAttempts = 5
/** What a crashed or disconnected replica left is found within this time; everything else is nudged. */
const pollMs = 1_000

/** How long a row waits after a failure. The wait grows with each failure, and no row is ever given up. */
const retryDelayMs = (attempts: number): number =>
  Math.min(retryDelayMsMax, retryDelayMsMin * 2 ** Math.min(attempts, 16))

/**
 * Sends what nobody else does: rows whose process died or could not send them, rows that wait behind others, and rows
 * of work that no request asked for. Events go to JetStream, commands to their service.
 */
export class Relay {
  readonly #context: SendingContext
  /** One for each kind, so that an unavailable service delays no event. */
  readonly #loops: Readonly<Record<OutboxKind, Loop>>

  constructor(context: SendingContext) {
    this.#context = context
    const { log, timers } = context
    const loop = (kind: OutboxKind) =>
      new Loop({ name: `outbox ${kind}s`, log, timers, everyMs: pollMs, run: () => this.#sendBatch(kind) })
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
    if (sent.length > 0 && (await markDone(db, sent, false))) this.nudge('command', 'event')
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

interface DispatchContext extends SendingContext {
  readonly relay: Relay
}

/** What an operation's transaction left in the outbox. */
export interface SentRows {
  readonly operationId: string
  readonly rows: readonly OutboxRow[]
  /** Ids of rows that wait behind another operation's unfinished row: only the relay may send them, in order. */
  readonly behind: ReadonlySet<string>
}

const unfinishedPollMs = 50
/** A command that nobody finished for this long is taken over by the request that waits for it: its holder may be dead. */
const takeOverAfterMs = 250

/** Sends what an operation left in the outbox, right after its commit. Its reply waits for its commands. */
export class Dispatch {
  readonly #context: DispatchContext
  readonly #done: Batcher<OutboxRow, boolean>
  readonly #unfinished: Batcher<string, boolean>
  readonly #publishing = new Set<Promise<void>>()

  constructor(context: DispatchContext) {
    this.#context = context
    const { db } = context
    this.#done = new Batcher({
      batchMax: 500,
      queueMax: 10_000,
      async run(rows) {
        const behind = await markDone(db, rows, false)
        return rows.map(() => behind)
      },
    })
    this.#unfinished = new Batcher({
      batchMax: 500,
      queueMax: 10_000,
      async run(operationIds) {
        const found = await findUnfinishedOperations(db, operationIds)
        return operationIds.map((id) => found.has(id))
      },
    })
  }

  /**
   * Runs an operation's commands in order, and then publishes its events without waiting for that.
   * @throws {Rejection} SERVICE_UNAVAILABLE when a command could not be done in time; the relay goes on with it
   */
  async finish({ operationId, rows, behind }: SentRows, deadline: Date): Promise<void> {
    if (rows.length === 0) return
    const commands = rows.filter((row): row is CommandRow => row.kind === 'command')
    if (commands.some(({ id }) => behind.has(id))) await this.finishOperation(operationId, deadline)
    else await this.#runCommands(rows, commands, deadline)
    const events = rows.filter((row): row is EventRow => row.kind === 'event' && !behind.has(row.id))
    for (const line of Map.groupBy(events, ({ aggregate }) => aggregate).values()) this.#publishSoon(line)
    if (behind.size > 0) this.#context.relay.nudge('event')
  }

  /**
   * Waits until no command of an operation is unfinished, whoever runs it.
   * @throws {Rejection} SERVICE_UNAVAILABLE when the deadline passes first
   */
  async finishOperation(operationId: string, deadline: Date): Promise<void> {
    const { timers } = this.#context
    const started = timers.monotonic()
    // The clock of the process may step meanwhile.
    const endsAt = started + deadline.getTime() - timers.now()
    let tookOver = false
    while (await this.#unfinished.add(operationId)) {
      if (endsAt - timers.monotonic() < unfinishedPollMs) throw unfinished(new Error(`${operationId} is unfinished`))
      if (!tookOver && timers.monotonic() - started >= takeOverAfterMs) {
        tookOver = true
        await takeOver(this.#context.db, operationId)
      }
      this.#context.relay.nudge('command')
      await pause(timers, unfinishedPollMs)
    }
  }

  /** Waits for the events that are being published. */
  async stop(): Promise<void> {
    await Promise.all(this.#publishing)
  }

  async #runCommands(rows: readonly OutboxRow[], commands: readonly CommandRow[], deadline: Date): Promise<void> {
    const done = new Set<string>()
    for (const row of commands) {
      try {
        await sendCommand(this.#context.rpc, row, deadline)
      } catch (error) {
        await this.#giveBack(
          rows.filter(({ id }) => !done.has(id)),
          error,
        )
        throw unfinished(error)
      }
      await this.#markDone(row)
      done.add(row.id)
    }
  }

  /** Rows that were written about the same record meanwhile wait behind this one. */
  async #markDone(row: OutboxRow): Promise<void> {
    if (await this.#done.add(row)) this.#context.relay.nudge('command', 'event')
  }

  #publishSoon(line: readonly EventRow[]): void {
    const task = this.#publish(line).finally(() => this.#publishing.delete(task))
    this.#publishing.add(task)
  }

  /** The events of one aggregate, one after another: the later ones do not leave before the earlier ones. */
  async #publish(line: readonly EventRow[]): Promise<void> {
    let sent = 0
    try {
      for (const row of line) {
        await sendEvent(this.#context.publisher, row)
        sent++
        await this.#markDone(row)
      }
    } catch (error) {
      await this.#giveBack(line.slice(sent), error).catch((err) =>
        this.#context.log.warn(
          { err, outboxIds: line.map(({ id }) => id) },
          'events could not be given back; the relay sends them when their lease ends',
        ),
      )
    }
  }

  async #giveBack(rows: readonly OutboxRow[], error: unknown): Promise<void> {
    for (const { id, name } of rows)
      this.#context.log.warn(
        { outboxId: id, subject: name, err: error },
        'an outbox row was not sent; the relay tries it again',
      )
    await release(
      this.#context.db,
      rows.map(({ id }) => ({ id, delayMs: retryDelayMs(1), error })),
    )
  }
}

const unfinished = (cause: unknown): Rejection => new Rejection('SERVICE_UNAVAILABLE', undefined, { cause })
