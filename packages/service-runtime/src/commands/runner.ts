import { type Operation, Rejection, type Scope } from '@backoffice/contracts'
import type { MikroORM } from '@mikro-orm/postgresql'
import { context, propagation } from '@opentelemetry/api'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { inTransaction } from '../database/connect.ts'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import type { Relay } from '../outbox/relay.ts'
import type { OutboxRow } from '../outbox/row.ts'
import type { RpcClient } from '../rpc/client.ts'
import type { ReceivedCall } from '../rpc/server.ts'
import { auditRow } from './audit.ts'
import {
  type Call,
  type CommandHandler,
  type CommandTools,
  type Handler,
  type QueryTools,
  UnfinishedOperation,
} from './handlers.ts'
import { isStorable, open, refusal, type StoredReply } from './stored-reply.ts'
import { sqlOf, UnitOfWork } from './unit-of-work.ts'

export interface RunnerParts {
  readonly orm: MikroORM
  readonly rpc: RpcClient
  readonly relay: Relay
  readonly clock: Clock
  readonly log: Logger
}

/** What a transaction did: its reply, and the commands to run before the reply may be given. */
interface Done {
  readonly body: unknown
  readonly commands: readonly OutboxRow[]
  readonly queued: boolean
}

/** Runs handlers: queries as they are, commands once per operation id in one transaction. */
export class Runner {
  readonly #parts: RunnerParts

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  run(handler: Handler, received: ReceivedCall): Promise<unknown> {
    const call = toCall(received)
    if (handler.kind === 'command') return this.#runCommand(handler, call, received)
    return handler.handle(call, this.#queryTools(received))
  }

  #queryTools({ requestId }: { readonly requestId: string }): QueryTools {
    const { orm, rpc, clock, log } = this.#parts
    const em = orm.em.fork()
    return { em, sql: sqlOf(em), now: clock.now(), newId, rpc, log: log.child({ requestId }) }
  }

  async #runCommand(handler: CommandHandler, call: Call<Operation>, received: ReceivedCall): Promise<unknown> {
    const prepared = await this.#prepare(handler, call).catch(async (error) => {
      // Whom it asks is away. What was answered before needs nobody.
      const reply = await this.#storedReply(handler.operation.id, call).catch(() => {
        throw error
      })
      return { reply }
    })
    if ('reply' in prepared) return open(prepared.reply)
    const outcome =
      prepared.rejection === undefined
        ? await this.#execute(handler, call, prepared.value, received)
        : prepared.rejection
    if (outcome instanceof Rejection) return open(await this.#storeRefusal(handler, call.operationId, outcome))
    if (outcome === 'known') return open(await this.#storedReply(handler.operation.id, call))
    // Behind another operation's unfinished command the relay keeps the order; else the commands are run right here.
    if (outcome.queued) await this.#parts.relay.finishOperation(call.operationId, call.deadline)
    else await this.#parts.relay.finishCommands(outcome.commands, call.deadline)
    return outcome.body
  }

  async #prepare(handler: CommandHandler, call: Call<Operation>): Promise<{ value?: unknown; rejection?: Rejection }> {
    try {
      return { value: await handler.prepare?.(call, this.#queryTools(call)) }
    } catch (error) {
      if (isStorable(handler.operation, error)) return { rejection: error }
      throw error
    }
  }

  /** The effect, its outbox rows and the reply commit together; a Rejection rolls all of it back. */
  async #execute(
    handler: CommandHandler,
    call: Call<Operation>,
    prepared: unknown,
    received: ReceivedCall,
  ): Promise<'known' | Rejection | Done> {
    const { orm, clock, log, relay } = this.#parts
    const { operation } = handler
    try {
      const outcome = await inTransaction(orm, async (em) => {
        const connection = sqlOf(em)
        const now = clock.now()
        // Two of one id at once: the second waits here until the first commits.
        const claimed = await sql`
          insert into operation (operation_id, name, created_at) values (${call.operationId}, ${operation.id}, ${now}::timestamptz)
          on conflict do nothing returning true
        `.execute(connection)
        if (claimed.rows.length === 0) return 'known' as const
        const work = new UnitOfWork({ now, operationId: call.operationId, context: outboxContext(call.requestId) })
        const base = { em, sql: connection, now, newId, log: log.child({ requestId: call.requestId }) }
        const body = await handler.execute(call, work.tools(base), prepared)
        await em.flush()
        const audit =
          received.actor === undefined ? null : auditRow(operation.id, { actor: received.actor, input: call.input })
        const { queued } = await work.finish(
          connection,
          { body: handler.stored === undefined ? body : handler.stored(body as never) },
          audit,
        )
        return { body, commands: work.commands, queued, sent: work.rows.length }
      })
      // Events behind a command wait for it; the end of the commands nudges again.
      if (outcome !== 'known' && outcome.sent > 0 && outcome.commands.length === 0) relay.nudge('event')
      return outcome
    } catch (error) {
      if (isStorable(operation, error)) return error
      if (!(error instanceof UnfinishedOperation)) throw error
      await relay.finishOperation(error.operationId, call.deadline)
      return this.#execute(handler, call, prepared, received)
    }
  }

  /** One transaction for work that no request asked for; what it sends leaves through the relay. */
  async transact<T>(run: (tools: CommandTools) => Promise<T>): Promise<T> {
    const { orm, clock, log, relay } = this.#parts
    const { result, sent } = await inTransaction(orm, async (em) => {
      const connection = sqlOf(em)
      const now = clock.now()
      const work = new UnitOfWork({ now, operationId: null, context: outboxContext(newId('req')) })
      const result = await run(work.tools({ em, sql: connection, now, newId, log }))
      await em.flush()
      if (work.rows.length > 0) await work.finish(connection, { body: null }, null)
      return { result, sent: work.rows.length }
    })
    if (sent > 0) relay.nudge('command', 'event')
    return result
  }

  /** In a transaction of its own, first writer wins: another attempt may have succeeded in the meantime. */
  async #storeRefusal({ operation }: CommandHandler, operationId: string, rejection: Rejection): Promise<StoredReply> {
    const connection = sqlOf(this.#parts.orm.em.fork())
    const reply = refusal(rejection)
    const { rows } = await sql<{ reply: StoredReply | null }>`
      with mine as (
        insert into operation (operation_id, name, reply, created_at)
        values (${operationId}, ${operation.id}, ${JSON.stringify(reply)}::json, ${this.#parts.clock.now()}::timestamptz)
        on conflict do nothing returning reply
      )
      select reply from mine
    `.execute(connection)
    if (rows[0] !== undefined) return reply
    return this.#storedReply(operation.id, { operationId, deadline: new Date(Date.now() + 1_000) })
  }

  /** The reply of an earlier attempt, given out only once its commands are done. */
  async #storedReply(
    name: string,
    { operationId, deadline }: { readonly operationId: string; readonly deadline: Date },
  ): Promise<StoredReply> {
    const connection = sqlOf(this.#parts.orm.em.fork())
    const { rows } = await sql<{ name: string; reply: StoredReply | null; abandoned: boolean; unfinished: boolean }>`
      select name, reply, abandoned,
        exists (select from outbox o where o.operation_id = operation.operation_id and o.kind = 'command' and o.done_at is null) as unfinished
      from operation where operation_id = ${operationId}
    `.execute(connection)
    const row = rows[0]
    if (row === undefined || row.reply === null || row.abandoned) throw new Rejection('SERVICE_UNAVAILABLE')
    if (row.name !== name) throw new Error(`operation id ${operationId} was used by ${row.name}, then by ${name}`)
    if (row.unfinished) await this.#parts.relay.finishOperation(operationId, deadline)
    return row.reply
  }

  /** Resolves an operation id: the stored reply, or a tombstone under the id that fences any late message. */
  async abandon(operationId: string): Promise<{ outcome: 'replied' | 'refused' | 'abandoned'; reply: unknown }> {
    const connection = sqlOf(this.#parts.orm.em.fork())
    await sql`
      insert into operation (operation_id, name, abandoned, created_at)
      values (${operationId}, 'abandonOperation', true, ${this.#parts.clock.now()}::timestamptz)
      on conflict do nothing
    `.execute(connection)
    const { rows } = await sql<{ reply: StoredReply | null; abandoned: boolean }>`
      select reply, abandoned from operation where operation_id = ${operationId}
    `.execute(connection)
    const row = rows[0]
    if (row === undefined || row.abandoned || row.reply === null) return { outcome: 'abandoned', reply: null }
    return 'error' in row.reply
      ? { outcome: 'refused', reply: row.reply.error }
      : { outcome: 'replied', reply: row.reply.body }
  }
}

/** What travels with an outbox row: the request it came from and its trace. */
function outboxContext(requestId: string): Record<string, string> {
  const carrier: Record<string, string> = { requestId }
  propagation.inject(context.active(), carrier)
  return carrier
}

function toCall(received: ReceivedCall): Call<Operation> {
  const { input, operationId, requestId, deadline } = received
  return {
    input: input as never,
    operationId,
    requestId,
    deadline,
    get scope(): Scope {
      if (received.scope === undefined) throw new Error('a team operation has no scope')
      return received.scope
    },
    get actor(): string {
      if (received.actor === undefined) throw new Error('only a team operation has an actor')
      return received.actor
    },
  }
}
