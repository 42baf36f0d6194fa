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
/** What a crashed or disconnected replica left is found within this time; everything else is nudged. */
const pollMs = 1_000
const retryDelayMsMin = 250
const retryDelayMsMax = 60_000
/** Failures of one row after which every further one is an alarm in the log. */
const alarmAttempts = 5
const commandTimeoutMs = 8_000
const replayPollMs = 50

const operationsByName = new Map(allOperations.map((operation) => [`${operation.service}.${operation.id}`, operation]))

/**
 * Takes what transactions left in the outbox to where it goes: events to JetStream, commands to their service. It leases
 * rows in columns, never by open locks, and only rows with no earlier unfinished row of the same aggregate.
 */
export class Relay {
  readonly #parts: RelayParts
  readonly #done: Gatherer<string, undefined>
  #running: Promise<void> | undefined
  #nudged = false
  #stopped = false
  #wake: (() => void) | undefined

  constructor(parts: RelayParts) {
    this.#parts = parts
    this.#done = new Gatherer({ run: (ids) => this.#markDone(ids), batchMax, queueMax: 10_000 })
  }

  start(): void {
    this.#running = this.#loop()
  }

  /** Finishes the batch under way and takes no other. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake?.()
    await this.#running
  }

  /** Something was committed: look now instead of at the next poll. */
  nudge(): void {
    this.#nudged = true
    this.#wake?.()
  }

  /**
   * Runs the commands that a transaction just left, which are leased to the caller, in order.
   * @throws {Rejection} SERVICE_UNAVAILABLE when one could not be done; the relay goes on with it
   */
  async finishCommands(rows: readonly OutboxRow[], deadline: Date): Promise<void> {
    for (const row of rows) {
      if (row.kind !== 'command') continue
      try {
        await this.#runCommand(row, deadline)
      } catch (error) {
        await this.#release([{ row: { ...row, attempts: 1 }, error }])
        throw unfinished(error)
      }
      await this.#done.add(row.id)
    }
    if (rows.length > 0) this.nudge()
  }

  /** Waits until no command of an operation is unfinished, running those that nobody holds. */
  async finishOperation(operationId: string, deadline: Date): Promise<void> {
    for (;;) {
      const { rows } = await sql<{ unfinished: boolean }>`
        select exists (select from outbox where operation_id = ${operationId} and kind = 'command' and done_at is null) as unfinished
      `.execute(this.#sql())
      if (!rows[0]?.unfinished) return
      if (deadline.getTime() - Date.now() < replayPollMs) throw new Rejection('SERVICE_UNAVAILABLE')
      this.nudge()
      await wait(replayPollMs)
    }
  }

  /** Every retained event leaves once more: the stream was lost, or may have lost its last minutes. */
  async republish({ since }: { readonly since: Date }): Promise<number> {
    const { rows } = await sql`
      update outbox set done_at = null, leased_until = null, attempts = 0
      where kind = 'event' and done_at >= ${since}::timestamptz returning true
    `.execute(this.#sql())
    if (rows.length > 0) this.nudge()
    return rows.length
  }

  #sql(): Sql {
    return this.#parts.orm.em.fork().getKysely() as Sql
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      this.#nudged = false
      let taken = 0
      try {
        taken = await this.#tick()
      } catch (error) {
        this.#parts.log.warn({ err: error }, 'the outbox relay could not run; it tries again')
      }
      if (taken === 0 && !this.#nudged && !this.#stopped) await this.#sleep()
    }
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
    })
  }

  /** One batch; answers how many rows it took. */
  async #tick(): Promise<number> {
    const rows = await this.#lease()
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
    return sent.length
  }

  async #lease(): Promise<LeasedRow[]> {
    // Leases run on the system's clock: an injected one that stands still would hold them for ever.
    const now = new Date()
    const { rows } = await sql<LeasedRow>`
      with due as (
        select o.id from outbox o
        where o.done_at is null and (o.leased_until is null or o.leased_until <= ${now}::timestamptz)
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

  #publish(row: EventRow): Promise<void> {
    const { event, context: carrier } = row.message
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
      update outbox set done_at = ${this.#parts.clock.now()}::timestamptz, leased_until = null where id = any(${ids}::text[])
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
        { outboxId: row.id, name: row.name, attempts: row.attempts, err: error },
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
