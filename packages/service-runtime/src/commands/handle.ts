import type {
  AuditedChange,
  ErrorCode,
  IdPrefix,
  Input,
  KeyClaim,
  Operation,
  Rejection,
  Reply,
  Scope,
  TeamCaller,
} from '@backoffice/contracts'
import type { Database, Db, Fragment, LockingDb, ReadDb } from '@backoffice/database'
import type { Vault } from '@backoffice/database/vault'
import type { Logger } from '@backoffice/process'
import type { RpcClient, ServedOperation } from '@backoffice/rpc'
import type { EmittedEvent, SentCommand, SentMessage } from '../outbox/store.ts'

export interface Call<O extends Operation = Operation> {
  readonly input: Input<O>
  /**
   * The operator and brand that the call acts for. A team operation has none, because it takes the brand from the
   * record: reading it there throws.
   */
  readonly scope: Scope
  /** Who of the team calls. Reading it in any other operation throws. */
  readonly caller: TeamCaller
  /** The caller's name, as the audit trail has it. */
  readonly actor: string
  /** The proposal of somebody else that the call carries out. */
  readonly approves?: string | undefined
  readonly operationId: string
  readonly requestId: string
  /** The Idempotency-Key of a call that says it. */
  readonly key?: KeyClaim | undefined
  /** When the caller stops waiting. */
  readonly deadline: Date
}

/** Time and ids are passed in, so that a decision depends on its input alone. */
export interface GivenTools {
  /**
   * What replicas share is judged by PostgreSQL's clock: in a command, and in whatever the team asks for that changes
   * something, this is its time. Elsewhere, where a call only reads, it is the process's.
   */
  readonly now: Date
  readonly newId: (prefix: IdPrefix) => string
}

export interface QueryTools extends GivenTools {
  readonly db: ReadDb
  readonly rpc: RpcClient
  readonly log: Logger
}

/** Outside of a transaction: a statement that is not in `db.transaction` commits by itself. */
interface OpenTools extends GivenTools {
  readonly db: Database
  readonly rpc: RpcClient
  readonly log: Logger
}

/** `approveAgain` and `approveFirst` are given by who governs the operation. */
export interface DirectTools extends OpenTools {
  /**
   * Asks `approval` once more, in the transaction that does the work and holds the locks: of two calls at once the second
   * must see what the first one did.
   * @throws {Rejection} SERVICE_UNAVAILABLE when nobody has approved the call and it takes a second person by now. The
   *   next attempt proposes
   */
  approveAgain(db: Db, now: Date): Promise<void>
}

export interface PrepareTools extends OpenTools {
  /**
   * Commits the approval that the call carries, for a `prepare` that does what only two people may and nobody can take
   * back. From then on the proposal cannot be declined and does not expire under the call.
   * @returns undefined for a call that proposes
   * @throws {Rejection} PROPOSAL_NOT_FOUND, PROPOSAL_NOT_OPEN, TWO_PEOPLE_REQUIRED
   */
  approveFirst(): Promise<ApprovedProposal | undefined>
}

/** What somebody proposed, and until when it could be approved. */
export interface ApprovedProposal {
  readonly proposedBy: string
  readonly operationId: string
  readonly expiresAt: Date
}

/** For the transaction of a command. There is no RPC client, because nothing calls the network inside a transaction. */
export interface ExecuteTools extends GivenTools {
  readonly db: Db
  readonly log: Logger
  /** Publishes an event after the commit, and after the aggregate's earlier rows. */
  emit<K extends EmittedEvent['kind']>(event: EmittedEvent<K>): void
  /**
   * Calls another service after the commit. The operation replies once that is done; until then it is refused with
   * SERVICE_UNAVAILABLE.
   */
  send<O extends Operation>(command: SentCommand<O>): void
  /** Says what became different, for the audit trail. */
  changed(...changes: readonly AuditedChange[]): void
}

/** What a handler works with, by its step. */
export interface Tools {
  given: GivenTools
  query: QueryTools
  direct: DirectTools
  prepare: PrepareTools
  execute: ExecuteTools
}

/** Reads one call. */
export type Query<O extends Operation> = (call: Call<O>, tools: QueryTools) => Promise<Reply<O>>

/** Reads in one query for all calls that wait. Returns one reply or refusal for each, in order. */
export interface BatchedQuery<O extends Operation> {
  readonly read: (
    calls: readonly Call<O>[],
    tools: Pick<QueryTools, 'db' | 'now'>,
  ) => Promise<readonly (Reply<O> | Rejection)[]>
}

/** Keeps its own transactions; idempotent by a reference in its input. */
export type Direct<O extends Operation> = (call: Call<O>, tools: DirectTools) => Promise<Reply<O>>

/** A direct operation that may take a second person. */
export interface DirectByTwo<O extends Operation> {
  readonly run: Direct<O>
  readonly approval: Approval<O>
}

/** Who has to approve a call, beside whoever makes it. */
export type Approver = 'nobody' | 'second person'

/**
 * Looks up what a call is about and says who has to approve it: the one question about two people, which is asked
 * of every kind of operation (`Govern`). Where the input alone decides it stands in the table (`twoPeople`), and needs no such
 * function. A command is asked in the transaction of its effect, under the locks that it takes here or in `load`, and a
 * batched one only when `decide` has refused nothing; a direct operation before it runs, and again by `approveAgain`.
 * @param state what `load` of a batched command returned for the call
 * @throws {Rejection} what refuses the call anyway, so that nobody is asked to approve it; TWO_PEOPLE_REQUIRED where an
 *   earlier operation by the same person was the first of the two
 */
export type Approval<O extends Operation, State = undefined> = (
  call: Call<O>,
  tools: { readonly db: Db; readonly now: Date },
  state: State,
) => Promise<Approver>

interface AnyCommand<O extends Operation, Prepared> {
  /**
   * Runs before the transaction and may call other services. A Rejection that it throws is the operation's reply. It
   * may run more than once for one operation id, and what it writes must allow for that.
   */
  readonly prepare?: (call: Call<O>, tools: PrepareTools) => Promise<Prepared>
  /**
   * What is stored of the reply for replays. It leaves out secrets, which are shown once and never kept in plain text.
   * null where nothing is left that a caller could use: an attempt that comes later is SERVICE_UNAVAILABLE then.
   */
  readonly stored?: (reply: Reply<O>) => Reply<O> | null
  /** Of who governs the operation. */
  readonly inTransaction?: InTransaction
}

/** A command that is rare: one call, one transaction. */
export interface SingleCommand<O extends Operation, Prepared> extends AnyCommand<O, Prepared> {
  readonly approval?: Approval<O>
  /**
   * @returns the reply; or a refusal that is committed together with what was written
   * @throws {Rejection} a refusal that takes back what was written
   */
  readonly execute: (call: Call<O>, tools: ExecuteTools, prepared: Prepared) => Promise<Reply<O> | Rejection>
}

export type PreparedCall<O extends Operation, Prepared> = Call<O> & { readonly prepared: Prepared }

export interface Decision<O extends Operation, Change> {
  readonly reply: Reply<O>
  /** What `save` is to write. */
  readonly change: Change
  /** They are sent in this order. */
  readonly sends?: readonly SentMessage[]
  /** What became different, for the audit trail, where a person of the team decides. */
  readonly changed?: readonly AuditedChange[]
}

/**
 * A command whose calls share a transaction when they wait at the same time. `load` and `save` work on lists. `decide`
 * is pure and sees one call, so a refusal affects that call alone.
 */
export interface BatchedCommand<O extends Operation, Prepared, State, Change> extends AnyCommand<O, Prepared> {
  /** Names every record that a call changes or sends about: two calls that share a name never share a transaction. */
  readonly conflictKeys: (call: PreparedCall<O, Prepared>) => readonly string[]
  /**
   * Locks in one order, then reads. Returns one state for each call, in order. Its first statements are sent together with
   * BEGIN, so its handle writes nothing, and the time is not known yet. In a statement it is `now()`.
   */
  readonly load: (
    calls: readonly PreparedCall<O, Prepared>[],
    tools: { readonly db: LockingDb },
  ) => Promise<readonly State[]>
  readonly approval?: Approval<O, State>
  /**
   * Of who governs the operation: whether it may be done, in the transaction, once `decide` has refused nothing.
   * @returns a refusal, which is committed
   */
  readonly consent?: (
    call: PreparedCall<O, Prepared>,
    tools: { readonly db: Db; readonly now: Date },
    state: State,
  ) => Promise<Rejection | undefined>
  /** @throws {Rejection} of this call alone */
  readonly decide: (call: PreparedCall<O, Prepared>, state: State, given: GivenTools) => Decision<O, Change>
  /**
   * Says what to write: COMMIT is sent right behind these statements, and nobody looks at their results. What must meet its
   * rows is a `sql.everyRow`.
   */
  readonly save: (
    changes: readonly Change[],
    tools: { readonly vault: Vault; readonly now: Date },
  ) => readonly Fragment[]
}

// biome-ignore lint/suspicious/noExplicitAny: a service's map holds handlers of all types; `handle` has checked each
type Any = any

export type Handler<O extends Operation = Any> =
  | { readonly kind: 'query'; readonly operation: O; readonly query: Query<O> }
  | { readonly kind: 'batched query'; readonly operation: O; readonly query: BatchedQuery<O> }
  | { readonly kind: 'direct'; readonly operation: O; readonly direct: Direct<O>; readonly approval?: Approval<O> }
  | { readonly kind: 'single command'; readonly operation: O; readonly command: SingleCommand<O, Any> }
  | { readonly kind: 'batched command'; readonly operation: O; readonly command: BatchedCommand<O, Any, Any, Any> }

/**
 * What the kind of an operation asks for. One conditional type, and no overloads: of those the compiler explains the
 * last, and not what is missing.
 */
export type HandlerOf<O extends Operation, Prepared, State, Change> = Steps<O, Prepared, State, Change> &
  (O['kind'] extends 'query'
    ? Query<O> | BatchedQuery<O>
    : O['kind'] extends 'direct'
      ? Direct<O> | Record<keyof DirectByTwo<O>, unknown>
      : { readonly execute: unknown } | { readonly [Step in 'conflictKeys' | 'load' | 'decide' | 'save']: unknown })

/** Beside the condition, since the compiler infers no type from inside of it: what a command prepares, loads and changes. */
type Steps<O extends Operation, Prepared, State, Change> = Partial<
  Pick<DirectByTwo<O>, 'run'> &
    Omit<SingleCommand<O, Prepared>, 'approval'> &
    BatchedCommand<O, Prepared, State, Change>
>

/** Declares how a service runs an operation of the table. The operation's kind decides which tools the handler gets. */
export function handle<O extends Operation, Prepared = undefined, State = unknown, Change = unknown>(
  operation: O,
  how: HandlerOf<O, Prepared, State, Change>,
): Handler<O>
export function handle(operation: Operation, how: Any): Handler {
  switch (operation.kind) {
    case 'query':
      return 'read' in how ? { kind: 'batched query', operation, query: how } : { kind: 'query', operation, query: how }
    case 'direct':
      return 'approval' in how
        ? { kind: 'direct', operation, direct: how.run, approval: how.approval }
        : { kind: 'direct', operation, direct: how }
    case 'command':
      return 'execute' in how
        ? { kind: 'single command', operation, command: how }
        : { kind: 'batched command', operation, command: how }
    default:
      return operation.kind satisfies never
  }
}

/** A governed call, what became of it, and what it changed. */
export interface Outcome {
  readonly operation: Operation
  readonly call: Pick<Call, 'approves' | 'caller' | 'input' | 'operationId'>
  /** Done, or refused with a code. */
  readonly outcome?: 'done' | ErrorCode
  readonly changes?: readonly AuditedChange[]
}

/** Runs in the transaction in which calls get their outcomes. */
export type InTransaction = (db: Db, outcomes: readonly Outcome[], now: Date) => Promise<void>

/** Who may run it, and what runs. */
export type Governed = Required<Pick<ServedOperation, 'admit' | 'run'>>

/**
 * Governs the operations that not every program may call: who may, who else has to agree, what is shown, and what is written
 * down. A plugin gives a service its own; a service without one serves no such operation.
 * @param runnerOf runs the handler that it is given: this one, or one that stands around it
 */
export type Govern = (handler: Handler, runnerOf: (handler: Handler) => ServedOperation['run']) => Governed

/**
 * Thrown by a command that finds a record whose last change another service has not finished. The runner finishes that
 * operation's commands and then begins the call again: nobody learns of a state before it is true everywhere.
 */
export class UnfinishedOperation extends Error {
  override readonly name = 'UnfinishedOperation'
  readonly operationId: string

  constructor(operationId: string) {
    super(`operation ${operationId} has unfinished commands`)
    this.operationId = operationId
  }
}
