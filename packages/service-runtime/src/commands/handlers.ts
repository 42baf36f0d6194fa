import type { EventData, EventKind, IdPrefix, Input, Operation, Reply, Scope } from '@backoffice/contracts'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Kysely } from 'kysely'
import type { Logger } from '../log.ts'
import type { RpcClient } from '../rpc/client.ts'

export interface Call<O extends Operation> {
  readonly input: Input<O>
  /** Whom the call acts for. Reading it in one of the team's operations throws: those name the brand in their input. */
  readonly scope: Scope
  /** The NATS user of a team operation. Reading it in any other throws. */
  readonly actor: string
  readonly operationId: string
  readonly requestId: string
  /** When the caller stops waiting. */
  readonly deadline: Date
}

// biome-ignore lint/suspicious/noExplicitAny: tables are named in SQL text, as the hot paths need them; rows are typed where they are read
export type Sql = Kysely<any>

export interface QueryTools {
  readonly em: EntityManager
  readonly sql: Sql
  readonly now: Date
  readonly newId: (prefix: IdPrefix) => string
  readonly rpc: RpcClient
  readonly log: Logger
}

export interface EmittedEvent<K extends EventKind = EventKind> {
  readonly kind: K
  /** The record's id: rows of one aggregate leave in order. Its row must be locked, or just inserted, by this transaction. */
  readonly aggregate: string
  readonly scope: Pick<Scope, 'operatorId' | 'brandId' | 'environment'>
  readonly data: EventData<K>
}

export interface SentCommand<O extends Operation = Operation> {
  /** A posting of another service that cannot be refused. */
  readonly operation: O
  /** As for an event. */
  readonly aggregate: string
  readonly scope: Scope
  readonly input: Input<O>
}

/** What a transaction works with. There is no RPC client: no network call happens inside a transaction. */
export interface CommandTools {
  readonly em: EntityManager
  readonly sql: Sql
  readonly now: Date
  readonly newId: (prefix: IdPrefix) => string
  readonly log: Logger
  /** Publishes an event after the commit, and after the aggregate's earlier rows. */
  emit<K extends EventKind>(event: EmittedEvent<K>): void
  /** Calls another service after the commit. The operation answers once it is done, and SERVICE_UNAVAILABLE until then. */
  send<O extends Operation>(command: SentCommand<O>): void
}

export interface QueryHandler<O extends Operation = Operation> {
  readonly kind: 'query' | 'posting'
  readonly operation: O
  readonly handle: (call: Call<O>, tools: QueryTools) => Promise<Reply<O>>
}

export interface CommandHandler<O extends Operation = Operation, Prepared = unknown> {
  readonly kind: 'command'
  readonly operation: O
  readonly prepare?: (call: Call<O>, tools: QueryTools) => Promise<Prepared>
  readonly execute: (call: Call<O>, tools: CommandTools, prepared: Prepared) => Promise<Reply<O>>
  /** What is stored of the reply, for replays: a secret is shown once and never kept in plain text. */
  readonly stored?: (reply: Reply<O>) => Reply<O>
}

/**
 * Thrown by `execute` when it met a record whose last change another service has not finished yet. The runner finishes
 * that operation's commands and runs `execute` again, so that nobody is told of a state before it is true everywhere.
 */
export class UnfinishedOperation extends Error {
  override readonly name = 'UnfinishedOperation'
  readonly operationId: string

  constructor(operationId: string) {
    super(`operation ${operationId} has unfinished commands`)
    this.operationId = operationId
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a map of handlers holds each with its own types, which `query` and `command` have checked
export type Handler = QueryHandler<any> | CommandHandler<any, any>

/** Reads; changes nothing. */
export function query<O extends Operation>(operation: O, handle: QueryHandler<O>['handle']): QueryHandler<O> {
  return { kind: 'query', operation, handle }
}

/** Changes something that is idempotent by the reference in its input, in transactions of its own. */
export function posting<O extends Operation>(operation: O, handle: QueryHandler<O>['handle']): QueryHandler<O> {
  return { kind: 'posting', operation, handle }
}

/**
 * Runs once per operation id, in one transaction. `prepare` runs before it and may call other services; `execute` decides
 * and writes. A Rejection of either is the operation's stored reply.
 */
export function command<O extends Operation, Prepared = undefined>(
  operation: O,
  steps: Pick<CommandHandler<O, Prepared>, 'prepare' | 'execute' | 'stored'>,
): CommandHandler<O, Prepared> {
  return { kind: 'command', operation, ...steps }
}
