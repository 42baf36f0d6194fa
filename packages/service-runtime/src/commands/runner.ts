import {
  isByPeople,
  type KeyClaim,
  type Operation,
  Rejection,
  type Scope,
  type TeamCaller,
} from '@backoffice/contracts'
import { batchFaultOf, type Database, type ReadDb, readNow } from '@backoffice/database'
import { type Clock, newId } from '@backoffice/process'
import { ownerOf, type ReceivedCall, type RpcClient, type RunResult, type ServedOperation } from '@backoffice/rpc'
import { context } from '@opentelemetry/api'
import { Batcher } from '../batcher.ts'
import type { Dispatch } from '../outbox/sending.ts'
import { attemptSingly, batchedAttempts } from './command.ts'
import type { BatchedQuery, Call, DirectTools, Govern, Handler, PrepareTools, Query } from './handle.ts'
import type { Attempt, AttemptContext, Outcome, Preparation } from './record.ts'
import { findKnown, fingerprintOf, isStorable, type KnownOperation, replyOf, unwrap } from './reply.ts'

export interface RunnerContext extends AttemptContext {
  readonly rpc: RpcClient
  readonly dispatch: Dispatch
  readonly clock: Clock
  readonly govern: Govern
}

const readsBatchMax = 500
const readsQueueMax = 5_000
/** While one query waits for PostgreSQL, the next may be sent. */
const readsAtOnce = 2

type OpenTools = Omit<DirectTools, 'approveAgain'>
type Prepare = ((call: Call, tools: PrepareTools) => Promise<unknown>) | undefined
type TryOut = (attempt: Attempt) => Promise<Outcome>

/** Turns each handler into an operation that can be served: queries read, commands run once per operation id. */
export class Runner {
  readonly #context: RunnerContext

  constructor(context: RunnerContext) {
    this.#context = context
  }

  serve(handler: Handler): ServedOperation {
    const { operation } = handler
    if (!isByPeople(operation)) return { operation, run: this.#runnerOf(handler) }
    return { operation, ...this.#context.govern(handler, (governed) => this.#runnerOf(governed)) }
  }

  #runnerOf(handler: Handler): ServedOperation['run'] {
    switch (handler.kind) {
      case 'query':
        return this.#query(handler.operation, handler.query)
      case 'batched query':
        return this.#batchedQuery(handler.query)
      case 'direct':
        return async (received) => {
          const tools = await this.#openTools(handler.operation, received)
          return fresh(handler.direct(new HandledCall(received), tools as DirectTools))
        }
      case 'single command':
        return this.#command(handler, (attempt) => attemptSingly(handler.command, attempt, this.#context))
      case 'batched command': {
        const batcher = batchedAttempts(handler.operation, handler.command, this.#context)
        return this.#command(handler, async (attempt) => {
          const outcome = await batcher.add(attempt)
          if (outcome instanceof Error) throw outcome
          return outcome
        })
      }
      default:
        return handler satisfies never
    }
  }

  #query(operation: Operation, query: Query<Operation>): ServedOperation['run'] {
    const { reader, teamReader } = this.#context.db
    const db = isByPeople(operation) ? teamReader : reader
    return (received) => {
      const tools = this.#tools(received, this.#context.clock.now())
      return fresh(query(new HandledCall(received) as never, Object.create(tools, { db: { value: db } })))
    }
  }

  #batchedQuery(query: BatchedQuery<Operation>): ServedOperation['run'] {
    const { db, clock, timers } = this.#context
    const batcher = new Batcher<{ readonly call: Call; readonly owner: string }, unknown>({
      batchMax: readsBatchMax,
      queueMax: readsQueueMax,
      concurrency: readsAtOnce,
      ownerOf: ({ owner }) => owner,
      isExpired: ({ call }) => call.deadline.getTime() <= timers.now(),
      faultOf: batchFaultOf,
      run: (waiting) => query.read(waiting.map(({ call }) => call) as never, { db: db.reader, now: clock.now() }),
    })
    return async (received) => {
      const reply = await batcher.add({ call: new HandledCall(received), owner: ownerOf(received) })
      if (reply instanceof Rejection) throw reply
      return { body: reply, isStored: false }
    }
  }

  /** Makes attempts until one has an outcome, and replies once the operation's own commands are done. */
  #command(
    { operation, command }: { readonly operation: Operation; readonly command: { readonly prepare?: Prepare } },
    tryOut: TryOut,
  ): ServedOperation['run'] {
    const { db, dispatch, timers } = this.#context
    return async (received) => {
      const call = new HandledCall(received)
      const fingerprint = fingerprintOf(
        operation,
        received.key?.request ?? (received.inputAsSent as object),
        received.scope?.brandId ?? received.caller?.name,
      )
      const replyOfKnown = async (known: KnownOperation) => {
        const current = known.unfinished ? await this.#finished(call, known) : known
        return { body: unwrap(replyOf(current, operation, { fingerprint, vault: db.vault })), isStored: true }
      }
      const preparation = await this.#prepare(operation, command.prepare, call, received)
      if (preparation.is === 'known') return replyOfKnown(preparation.known)
      const byTeam = received.caller !== undefined
      const attempt = {
        operation,
        call,
        fingerprint,
        preparation,
        scope: received.scope,
        byTeam,
        owner: ownerOf(received),
        bytes: received.bytes,
        trace: context.active(),
      }
      for (;;) {
        const outcome = await tryOut(attempt)
        switch (outcome.is) {
          case 'replied':
            await dispatch.finish(outcome.sent, call.deadline)
            return { body: outcome.body, isStored: false }
          case 'refused':
            throw outcome.rejection
          case 'known':
            return replyOfKnown(outcome.known)
          case 'blocked':
            await dispatch.finishOperation(outcome.by, call.deadline)
            // A record that names a finished operation is a bug. The deadline keeps it from looping for ever.
            if (call.deadline.getTime() <= timers.now()) throw new Rejection('SERVICE_UNAVAILABLE')
            break
          default:
            outcome satisfies never
        }
      }
    }
  }

  /** Waits for the commands of a known operation. If the team has ended one of them, the reply is another one since. */
  async #finished({ operationId, deadline }: Call, known: KnownOperation): Promise<KnownOperation> {
    await this.#context.dispatch.finishOperation(operationId, deadline)
    return (await findKnown(this.#context.db, [operationId])).known.get(operationId) ?? known
  }

  /** A service that it calls may be unavailable. A stored reply needs no call, so then look for one. */
  async #prepare(
    operation: Operation,
    prepare: Prepare,
    call: Call,
    received: ReceivedCall,
  ): Promise<Preparation | { readonly is: 'known'; readonly known: KnownOperation }> {
    try {
      if (prepare === undefined) return { is: 'prepared', value: undefined }
      const tools = await this.#openTools(operation, received)
      return { is: 'prepared', value: await prepare(call, tools as PrepareTools) }
    } catch (error) {
      if (isStorable(operation, error)) return { is: 'refused', rejection: error }
      const known = await findKnown(this.#context.db, [call.operationId]).catch(() => undefined)
      const earlier = known?.known.get(call.operationId)
      if (earlier === undefined) throw error
      return { is: 'known', known: earlier }
    }
  }

  /** What the team changes is judged by the clock that all replicas share. */
  async #openTools(operation: Operation, received: ReceivedCall): Promise<OpenTools> {
    const { db, clock } = this.#context
    return this.#tools(received, isByPeople(operation) ? await readNow(db) : clock.now())
  }

  #tools({ requestId }: ReceivedCall, now: Date): OpenTools {
    const { db, rpc, log } = this.#context
    return {
      db,
      rpc,
      now,
      newId,
      // Made when it is used: most calls log nothing.
      get log() {
        return log.child({ requestId })
      },
    }
  }
}

const fresh = async (reply: Promise<unknown>): Promise<RunResult> => ({ body: await reply, isStored: false })

/** Its getters are the class's: an object with getters of its own takes a microsecond to make. */
class HandledCall implements Call {
  // Not `#`: a call with what was prepared has this one as its prototype (command.ts).
  private readonly received: ReceivedCall
  readonly input: never
  readonly approves: string | undefined
  readonly operationId: string
  readonly requestId: string
  readonly key: KeyClaim | undefined
  readonly deadline: Date

  constructor(received: ReceivedCall) {
    this.received = received
    this.input = received.input as never
    this.approves = received.approves
    this.operationId = received.operationId
    this.requestId = received.requestId
    this.key = received.key
    this.deadline = received.deadline
  }

  get scope(): Scope {
    const { scope } = this.received
    if (scope === undefined) throw new Error('a team operation has no scope')
    return scope
  }

  get caller(): TeamCaller {
    const { caller } = this.received
    if (caller === undefined) throw new Error('only a team operation has a caller')
    return caller
  }

  get actor(): string {
    return this.caller.name
  }
}

/** More than this are forgotten together, and read again. */
const brandsMax = 10_000

/** A call that says of a brand what is not so. Nobody of ours makes one. */
export class ScopeMismatch extends Error {
  override readonly name = 'ScopeMismatch'

  constructor({ brandId }: Scope, field: string) {
    super(`the scope of a call has another ${field} than brand ${brandId}`)
  }
}

/**
 * What a service has kept of each brand: whose it is, its environment, currency and time zone. None of it ever changes, so a
 * brand is read once in a process.
 */
export class Brands {
  readonly #db: Database
  readonly #known = new Map<string, Promise<Scope | undefined>>()

  constructor(db: Database) {
    this.#db = db
  }

  /**
   * Holds a scope against its brand.
   * @throws {Rejection} SERVICE_UNAVAILABLE when the brand is not known here, or not yet
   * @throws {ScopeMismatch} when the scope says anything else than is so
   */
  async verify(scope: Scope): Promise<void> {
    const kept = await this.#find(scope.brandId)
    if (kept === undefined) {
      const cause = new Error(`brand ${scope.brandId} is not registered here`)
      throw new Rejection('SERVICE_UNAVAILABLE', undefined, { cause })
    }
    assertSame(scope, kept)
  }

  #find(brandId: string): Promise<Scope | undefined> {
    const known = this.#known.get(brandId)
    if (known !== undefined) return known
    const found = readBrand(this.#db.reader, brandId)
    if (this.#known.size >= brandsMax) this.#known.clear()
    this.#known.set(brandId, found)
    // Only what is known is cached: the brand may be registered at the next moment.
    const forget = () => this.#known.get(brandId) === found && this.#known.delete(brandId)
    found.then((kept) => kept ?? forget(), forget)
    return found
  }
}

/**
 * Keeps a brand. Again it changes nothing.
 * @throws {ScopeMismatch} when the brand is kept with another operator, environment, currency or time zone
 */
export async function keepBrand(db: Database, scope: Scope): Promise<void> {
  const { brandId, operatorId, environment, currency, timeZone } = scope
  await db`
    insert into brand (id, operator_id, environment, currency, time_zone)
    values (${brandId}, ${operatorId}, ${environment}, ${currency}, ${timeZone}) on conflict (id) do nothing
  `
  const kept = await readBrand(db, brandId)
  if (kept !== undefined) assertSame(scope, kept)
}

async function readBrand(db: ReadDb, brandId: string): Promise<Scope | undefined> {
  const [brand] = await db<Scope>`
    select id as brand_id, operator_id, environment, currency, time_zone from brand where id = ${brandId}
  `
  return brand
}

function assertSame(scope: Scope, kept: Scope): void {
  for (const field of ['operatorId', 'environment', 'currency', 'timeZone'] as const) {
    if (scope[field] !== kept[field]) throw new ScopeMismatch(scope, field)
  }
}
