import { setTimeout as wait } from 'node:timers/promises'
import { Rejection } from '@backoffice/contracts'
import type { Logger } from '@backoffice/process'
import type { Database } from '../database/db.ts'
import { Gatherer } from '../gathering/gatherer.ts'
import type { EventPublisher } from '../messages/publisher.ts'
import type { RpcClient } from '../messages/rpc-client.ts'
import { type Relay, retryDelayMs } from './relay.ts'
import {
  type CommandRow,
  type EventRow,
  findUnfinishedOperations,
  markDone,
  type OutboxRow,
  release,
  sendCommand,
  sendEvent,
  takeOver,
} from './store.ts'

export interface DispatchContext {
  readonly db: Database
  readonly rpc: RpcClient
  readonly publisher: EventPublisher
  readonly relay: Relay
  readonly log: Logger
}

/** What an operation's transaction left in the outbox. */
export interface SentRows {
  readonly operationId: string
  readonly rows: readonly OutboxRow[]
  /** Ids of rows that wait behind another operation's unfinished row: only the relay may send them, in order. */
  readonly behind: ReadonlySet<string>
}

const pollMs = 50
/** A command that nobody finished for this long is taken over by the request that waits for it: its holder may be dead. */
const takeOverAfterMs = 250

/** Sends what an operation left in the outbox, right after its commit. Its reply waits for its commands. */
export class Dispatch {
  readonly #context: DispatchContext
  readonly #done: Gatherer<OutboxRow, boolean>
  readonly #unfinished: Gatherer<string, boolean>
  readonly #publishing = new Set<Promise<void>>()

  constructor(context: DispatchContext) {
    this.#context = context
    const { db } = context
    this.#done = new Gatherer({
      batchMax: 500,
      queueMax: 10_000,
      async run(rows) {
        const behind = await markDone(db, rows)
        return rows.map(() => behind)
      },
    })
    this.#unfinished = new Gatherer({
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
    const started = performance.now()
    // The clock of the process may step meanwhile.
    const endsAt = started + deadline.getTime() - Date.now()
    let tookOver = false
    while (await this.#unfinished.add(operationId)) {
      if (endsAt - performance.now() < pollMs) throw unfinished(new Error(`${operationId} is unfinished`))
      if (!tookOver && performance.now() - started >= takeOverAfterMs) {
        tookOver = true
        await takeOver(this.#context.db, operationId)
      }
      this.#context.relay.nudge('command')
      await wait(pollMs)
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
