import { apiVersion, type EventKind, type Operation } from '@backoffice/contracts'
import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import { newId } from '../ids.ts'
import type { OutboxRow } from '../outbox/row.ts'
import type { CommandTools, EmittedEvent, SentCommand, Sql } from './handlers.ts'
import type { StoredReply } from './stored-reply.ts'

/** How long the request path has for its own commands before a relay may take them. */
export const ownLeaseMs = 15_000

export interface AuditRow {
  readonly actor: string
  readonly operation: string
  readonly subject: string | null
  readonly reason: string | null
  readonly input: unknown
}

/** Collects what one transaction sends, and writes it with the reply in a single statement. */
export class UnitOfWork {
  readonly rows: OutboxRow[] = []
  readonly #now: Date
  readonly #operationId: string | null
  readonly #context: Readonly<Record<string, string>>

  /**
   * @param operationId null: no request waits for the commands, so the relay may take them at once
   * @param context request id and trace, which travel with each row
   */
  constructor(options: {
    readonly now: Date
    readonly operationId: string | null
    readonly context: Readonly<Record<string, string>>
  }) {
    this.#now = options.now
    this.#operationId = options.operationId
    this.#context = options.context
  }

  tools(base: Omit<CommandTools, 'emit' | 'send'>): CommandTools {
    return { ...base, emit: (event) => this.#emit(event), send: (command) => this.#send(command) }
  }

  #emit<K extends EventKind>({ kind, aggregate, scope, data }: EmittedEvent<K>): void {
    const { operatorId, brandId, environment } = scope
    const id = newId('evt')
    const message = {
      id,
      type: kind,
      apiVersion,
      environment,
      operatorId,
      brandId,
      createdAt: this.#now.toISOString(),
      data,
    }
    this.rows.push({ id, aggregate, kind: 'event', name: kind, message: { context: this.#context, event: message } })
  }

  #send<O extends Operation>({ operation, aggregate, scope, input }: SentCommand<O>): void {
    const name = `${operation.service}.${operation.id}`
    this.rows.push({
      id: newId('cmd'),
      aggregate,
      kind: 'command',
      name,
      message: { context: this.#context, scope, input },
    })
  }

  /** The rows of commands: they are leased to this request, which runs them right after the commit. */
  get commands(): readonly OutboxRow[] {
    return this.rows.filter(({ kind }) => kind === 'command')
  }

  /**
   * Writes outbox rows, audit entry and reply. The aggregates' rows are locked, so the numbers below cannot collide.
   * @returns queued: a command stands behind another operation's unfinished one, so only the relay may run it
   */
  async finish(connection: Sql, reply: StoredReply, audit: AuditRow | null): Promise<{ queued: boolean }> {
    // Leases run on the system's clock: an injected one that stands still would hold them for ever.
    const leasedUntil = new Date(Date.now() + ownLeaseMs)
    const rows = this.rows
    const seen = new Map<string, number>()
    const offsets = rows.map(({ aggregate }) => {
      const offset = (seen.get(aggregate) ?? 0) + 1
      seen.set(aggregate, offset)
      return offset
    })
    const { rows: queued } = await sql`
      with sent as (
        insert into outbox (id, aggregate, aggregate_seq, kind, name, message, operation_id, created_at, leased_until)
        select r.id, r.aggregate,
          coalesce((select max(o.aggregate_seq) from outbox o where o.aggregate = r.aggregate), 0) + r.n,
          r.kind, r.name, r.message::json, ${this.#operationId}, ${this.#now}::timestamptz,
          case when r.kind = 'command' and ${this.#operationId}::text is not null and not exists (
            select from outbox e where e.aggregate = r.aggregate and e.kind = 'command' and e.done_at is null
          ) then ${leasedUntil}::timestamptz end
        from unnest(
          ${rows.map(({ id }) => id)}::text[], ${rows.map(({ aggregate }) => aggregate)}::text[], ${offsets}::bigint[],
          ${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ name }) => name)}::text[],
          ${rows.map(({ message }) => JSON.stringify(message))}::text[]
        ) as r (id, aggregate, n, kind, name, message)
        returning kind, leased_until
      ), audited as (
        insert into audit_entry (id, at, actor, operation, operation_id, subject, reason, input)
        select ${newId('aud')}, ${this.#now}::timestamptz, ${audit?.actor ?? ''}, ${audit?.operation ?? ''}, ${this.#operationId},
          ${audit?.subject ?? null}, ${audit?.reason ?? null}, ${JSON.stringify(audit?.input ?? null)}::json
        where ${audit !== null}
      ), replied as (
        update operation set reply = ${JSON.stringify(reply)}::json where operation_id = ${this.#operationId}
      )
      select true from sent where kind = 'command' and leased_until is null limit 1
    `.execute(connection)
    return { queued: queued.length > 0 }
  }
}

/** The transaction-bound tools of an entity manager. */
export function sqlOf(em: EntityManager): Sql {
  return em.getKysely() as Sql
}
