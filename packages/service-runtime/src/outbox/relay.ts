import { setTimeout as wait } from 'node:timers/promises'
import { allOperations, type Input, type Operation, Rejection } from '@backoffice/contracts'
import type { MikroORM } from '@mikro-orm/postgresql'
import { context, propagation } from '@opentelemetry/api'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Sql } from '../commands/handlers.ts'
import { Gatherer } from '../gatherer.ts'
import type { Logger } from '../log.ts'
import type { RpcClient } from '../rpc/client.ts'
import { Lane } from './lane.ts'
import type { EventPublisher } from './publisher.ts'
import type { CommandRow, EventRow, OutboxRow } from './row.ts'

export interface RelayParts {
  readonly orm: MikroORM
  readonly rpc: RpcClient
  readonly publisher: EventPublisher
  readonly clock: Clock
  readonly log: Logger
}

type LeasedRow = OutboxRow & { readonly attempts: number }

const batchMax = 200
/** Longer than a batch can take; after it another replica may try. */
const leaseMs = 30_000
const retryDelayMsMin = 250
const retryDelayMsMax = 60_000
/** Failures of one row after which every further one is an alarm in the log. */
const alarmAttempts = 5
const commandTimeoutMs = 8_000
const replayPollMs = 50
/** A command that nobody finished for this long is taken over by the request that waits for it: its holder may be dead. */
const takeOverAfterMs = 250

const operationsByName = new Map(allOperations.map((operation) => [`${operation.service}.${operation.id}`, operation]))

/**
 * Takes what transactions left in the outbox to where it goes: events to JetStream, commands to their service. It leases
 * rows in columns, never by open locks, and only rows with no earlier unfinished row of the same aggregate.
 */
export class Relay {
  readonly #parts: RelayParts
  readonly #done: Gatherer<string, undefined>
  /** A lane each, so that a service which does not answer delays no event. */
  readonly #lanes: Readonly<Record<OutboxRow['kind'], Lane>>

  constructor(parts: RelayParts) {
    this.#parts = parts
    this.#done = new Gatherer({ run: (ids) => this.#markDone(ids), batchMax, queueMax: 10_000 })
    const lane = (kind: OutboxRow['kind']) => new Lane(() => this.#runBatch(kind), parts.log)
    this.#lanes = { event: lane('event'), command: lane('command') }
  }

  start(): void {
    for (const lane of Object.values(this.#lanes)) lane.start()
  }

  /** Finishes what is under way and what is already known to wait. */
  async stop(): Promise<void> {
    await this.#lanes.command.stop()
    await this.#lanes.event.stop()
  }

  /** Something was committed: look now instead of at the next poll. */
  nudge(...kinds: OutboxRow['kind'][]): void {
    for (const kind of kinds) this.#lanes[kind].nudge()
  }

  /**
   * Runs the commands that a transaction just left, which are leased to the caller, in order.
   * @throws {Rejection} SERVICE_UNAVAILABLE when one could not be done; the relay goes on with it
   */
  async finishCommands(rows: readonly OutboxRow[], deadline: Date): Promise<void> {
    const commands = rows.filter((row) => row.kind === 'command')
    for (const [index, row] of commands.entries()) {
      try {
        await this.#runCommand(row, deadline)
      } catch (error) {
        await this.#release(commands.slice(index).map((left) => ({ row: { ...left, attempts: 1 }, error })))
        throw unfinished(error)
      }
      await this.#done.add(row.id)
    }
    if (commands.length > 0) this.nudge('event')
  }

  /**
   * Waits until no command of an operation is unfinished, whoever runs it.
   * @throws {Rejection} SERVICE_UNAVAILABLE when the deadline passes first
   */
  async finishOperation(operationId: string, deadline: Date): Promise<void> {
    const started = Date.now()
    let tookOver = false
    for (;;) {
      const { rows } = await sql<{ unfinished: boolean }>`
        select exists (select from outbox where operation_id = ${operationId} and kind = 'command' and done_at is null) as unfinished
      `.execute(this.#sql())
      if (!rows[0]?.unfinished) return
      if (deadline.getTime() - Date.now() < replayPollMs) throw unfinished(new Error(`${operationId} is unfinished`))
      if (!tookOver && Date.now() - started >= takeOverAfterMs) {
        tookOver = true
        await this.#takeOver(operationId)
      }
      this.nudge('command')
      await wait(replayPollMs)
    }
  }

  /** Ends leases and waits of an operation's commands. They are idempotent by reference: running one twice is harmless. */
  async #takeOver(operationId: string): Promise<void> {
    await sql`
      update outbox set leased_until = null
      where operation_id = ${operationId} and kind = 'command' and done_at is null
    `.execute(this.#sql())
  }

  #sql(): Sql {
    return this.#parts.orm.em.fork().getKysely() as Sql
  }

  /** One batch; answers how many rows it could send. */
  async #runBatch(kind: OutboxRow['kind']): Promise<number> {
    const rows = await this.#lease(kind)
    const outcomes = await Promise.allSettled(rows.map((row) => this.#send(row)))
    const sent: string[] = []
    const failed: { row: LeasedRow; error: unknown }[] = []
    outcomes.forEach((outcome, index) => {
      const row = rows[index] as LeasedRow
      if (outcome.status === 'fulfilled') sent.push(row.id)
      else failed.push({ row, error: outcome.reason })
    })
    if (sent.length > 0) await this.#markDone(sent)
    if (failed.length > 0) await this.#release(failed)
    // Events stand behind the commands of their record.
    if (kind === 'command' && sent.length > 0) this.nudge('event')
    return sent.length
  }

  async #lease(kind: OutboxRow['kind']): Promise<LeasedRow[]> {
    // Leases run on the system's clock: an injected one that stands still would hold them for ever.
    const now = new Date()
    const { rows } = await sql<LeasedRow>`
      with due as (
        select o.id from outbox o
        where o.done_at is null and o.kind = ${kind} and (o.leased_until is null or o.leased_until <= ${now}::timestamptz)
          and not exists (
            select from outbox earlier
            where earlier.aggregate = o.aggregate and earlier.aggregate_seq < o.aggregate_seq and earlier.done_at is null
          )
        order by o.created_at
        limit ${batchMax}
        for no key update skip locked
      )
      update outbox o set leased_until = ${new Date(now.getTime() + leaseMs)}::timestamptz, attempts = o.attempts + 1
      from due where o.id = due.id
      returning o.id, o.aggregate, o.kind, o.name, o.message, o.attempts
    `.execute(this.#sql())
    return rows
  }

  #send(row: OutboxRow): Promise<void> {
    return row.kind === 'event' ? this.#publish(row) : this.#runCommand(row, new Date(Date.now() + commandTimeoutMs))
  }

  #publish({ message: { event, context: carrier } }: EventRow): Promise<void> {
    return context.with(propagation.extract(context.active(), carrier), () =>
      this.#parts.publisher.publish(event, carrier.requestId ?? ''),
    )
  }

  async #runCommand(row: CommandRow, deadline: Date): Promise<void> {
    const operation = operationsByName.get(row.name)
    if (operation === undefined) throw new Error(`the outbox names an unknown operation: ${row.name}`)
    const { context: carrier, scope, input } = row.message
    const options = {
      scope,
      input: input as Input<Operation>,
      operationId: row.id,
      requestId: carrier.requestId ?? row.id,
      deadline,
    }
    await context.with(propagation.extract(context.active(), carrier), () => this.#parts.rpc.call(operation, options))
  }

  async #markDone(ids: readonly string[]): Promise<undefined[]> {
    await sql`
      update outbox set done_at = ${this.#parts.clock.now()}::timestamptz, leased_until = null
      where id = any(${ids}::text[]) and done_at is null
    `.execute(this.#sql())
    return ids.map(() => undefined)
  }

  /** Gives rows back for a later try: each waits longer the more often it failed, and none is ever given up. */
  async #release(failed: readonly { readonly row: LeasedRow; readonly error: unknown }[]): Promise<void> {
    const now = Date.now()
    const until = failed.map(({ row }) => new Date(now + retryDelayMs(row.attempts)))
    for (const { row, error } of failed) {
      const level = row.attempts >= alarmAttempts ? 'error' : 'warn'
      this.#parts.log[level](
        { outboxId: row.id, subject: row.name, attempts: row.attempts, err: error },
        'an outbox row was not sent; it is tried again',
      )
    }
    await sql`
      update outbox o set leased_until = f.until
      from unnest(${failed.map(({ row }) => row.id)}::text[], ${until}::timestamptz[]) as f (id, until)
      where o.id = f.id and o.done_at is null
    `.execute(this.#sql())
  }
}

function retryDelayMs(attempts: number): number {
  return Math.min(retryDelayMsMax, retryDelayMsMin * 2 ** Math.min(attempts, 16))
}

function unfinished(cause: unknown): Rejection {
  return Object.assign(new Rejection('SERVICE_UNAVAILABLE'), { cause })
}
