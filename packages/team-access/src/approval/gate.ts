import assert from 'node:assert/strict'
import {
  invalid,
  masked,
  maskedKinds,
  maskedKindsFor,
  type Operation,
  personalKindsIn,
  Rejection,
  type TeamCaller,
} from '@backoffice/contracts'
import { meter } from '@backoffice/process'
import { inputSchema, readMessage, type ServedOperation, type TeamCall } from '@backoffice/rpc'
import {
  type Database,
  type Db,
  type Governed,
  type Handler,
  isStorable,
  type Outcome,
  type ServiceContext,
} from '@backoffice/service-runtime'
import { IdentityRefused, KeysUnavailable, objectOf, refusalOf, type TeamVerifier } from '../identity/index.ts'
import { type EndReason, endOf } from '../trail/sessions.ts'
import { auditRow, insertAudit, recordAction } from '../trail/trail.ts'
import { askSecondPerson, takeOnce } from './two-people.ts'

type Run = ServedOperation['run']
type GateContext = Pick<ServiceContext, 'db' | 'clock' | 'log'>

const refused = meter.createCounter('backoffice.team.refused_calls', {
  description: 'Calls of the team that were refused before they began, by code and reason',
})

/**
 * Stands before every operation of the team: finds out who calls, and whether they may. Who is known and may not is
 * recorded in the audit trail; who is not known is in the log and in a metric alone, since anybody could fill the trail.
 */
export class TeamGate {
  readonly #verifier: TeamVerifier
  readonly #context: GateContext
  readonly #sessions: TeamSessions

  constructor(verifier: TeamVerifier, context: GateContext) {
    this.#verifier = verifier
    this.#context = context
    this.#sessions = new TeamSessions(context.db)
  }

  /** One decorator: who may call it, who else has to agree, what of the reply is shown, and what the trail says. */
  govern(handler: Handler, runnerOf: (handler: Handler) => Run): Governed {
    const { operation } = handler
    return {
      admit: (call) => this.#admit(operation, call),
      run: this.#around(operation, runnerOf(askSecondPerson(recorded(handler)))),
    }
  }

  /** @throws {Rejection} LOGIN_REQUIRED, ROLE_REQUIRED, FRESH_LOGIN_REQUIRED; SERVICE_UNAVAILABLE while the provider's keys cannot be read */
  async #admit(operation: Operation, call: TeamCall): Promise<TeamCaller> {
    const { db, clock } = this.#context
    const now = clock.now()
    const caller = await this.#identify(operation, call, now)
    if (operation.byIdentityProvider) return caller
    const end = await endOf(db, caller)
    if (end !== undefined) throw this.#nobody(operation, end, endings[end], { session: caller.session })
    await this.#sessions.keep(caller, now)
    const refusal = refusalOf(operation, call.input, caller, now)
    if (refusal === undefined) return caller
    refused.add(1, { operation: operation.id, code: refusal.code, reason: '' })
    const { operationId } = call
    await recordAction(db, operation, { caller, operationId, input: validInput(operation, call.input) }, now, {
      outcome: refusal.code,
    })
    throw refusal
  }

  /**
   * The team reads personal data masked, as the marks of a reply and the roles say. Who gives a
   * reason may read them in full, of one person at a time. What tells about people is recorded before it is answered:
   * who read, whom and why; and so is every refusal.
   */
  #around(operation: Operation, run: Run): Run {
    const { db, clock } = this.#context
    const tellsOfPeople = readsPeople(operation)
    return async (received) => {
      const { caller } = received
      assert(caller, 'the gate has admitted somebody')
      const { unmask = false, reason } = received.input as { readonly unmask?: boolean; readonly reason?: string }
      if (unmask && reason === undefined) throw invalid('body', '/reason', 'is required with unmask')
      // A command is recorded with its reply.
      const record = (outcome: NonNullable<Outcome['outcome']>) =>
        recordAction(db, operation, { ...received, caller, input: received.input as never }, clock.now(), { outcome })
      const own = operation.twoPeople === undefined ? undefined : await takeOnce(db, operation, received)
      const result = own
        ? { ...own, isStored: true }
        : await run(received).catch(async (error) => {
            if (operation.kind !== 'command' && isStorable(operation, error)) await record(error.code)
            throw error
          })
      if (operation.kind === 'query' && (reason !== undefined || tellsOfPeople)) await record('done')
      if (unmask || operation.discloses) return result
      return { ...result, body: masked(operation.reply, result.body, maskedKindsFor(caller.roles)) }
    }
  }

  async #identify(operation: Operation, call: TeamCall, now: Date): Promise<TeamCaller> {
    try {
      if (operation.byIdentityProvider) return await this.#verifier.verifyLogout(call.idToken, now)
      return await this.#verifier.verify(call, call, now)
    } catch (error) {
      if (error instanceof KeysUnavailable) throw new Rejection('SERVICE_UNAVAILABLE', undefined, { cause: error })
      if (!(error instanceof IdentityRefused)) throw error
      throw this.#nobody(operation, error.reason, error.message, { err: error })
    }
  }

  /** A call that nobody made who may act. It is in the log and in a metric. */
  #nobody(operation: Operation, reason: string, message: string, logged: object): Rejection {
    refused.add(1, { operation: operation.id, code: 'LOGIN_REQUIRED', reason })
    this.#context.log.warn(
      { operation: operation.id, reason, ...logged },
      `a call of ${operation.id} was refused: nobody of the team made it`,
    )
    return new Rejection('LOGIN_REQUIRED', { reason, message })
  }
}

const endings: Readonly<Record<EndReason, string>> = {
  locked: 'somebody of the team has locked this account',
  'session ended': 'the session was ended',
}

/** Enters commands in the trail, in the transaction of their effect. */
function recorded(handler: Handler): Handler {
  if (!('command' in handler)) return handler
  const inTransaction = (db: Db, outcomes: readonly Outcome[], now: Date) =>
    insertAudit(db, outcomes.map(auditRow), now)
  return { ...handler, command: { ...handler.command, inTransaction } } as Handler
}

/** For the trail. Nothing is kept of an input that is not valid: it may be of any size, and anything may be in it. */
function validInput(operation: Operation, input: unknown): Readonly<Record<string, unknown>> {
  const read = readMessage(inputSchema(operation), input)
  return read.issues === null ? objectOf(read.known) : {}
}

/** Whether a reply says who somebody is, or names an account of theirs, masked or not. An id alone does not. */
const readsPeople = ({ reply }: Operation): boolean => {
  const kinds = personalKindsIn(reply)
  return tellingKinds.some((kind) => kinds.has(kind))
}
const tellingKinds = ['name', 'destination', ...maskedKinds] as const

const writtenMax = 10_000

/**
 * Keeps the ID token of each session, once, and the key that it rests on: with them, the proofs of the audit trail can be
 * verified later, by somebody who trusts no service.
 */
class TeamSessions {
  readonly #db: Database
  /** Those that this process has written. */
  readonly #written = new Set<string>()

  constructor(db: Database) {
    this.#db = db
  }

  async keep({ session, id, name, kind, evidence: { idToken }, anchor }: TeamCaller, now: Date): Promise<void> {
    const key = `${session} ${name} ${id}`
    if (this.#written.has(key)) return
    await this.#db`
      insert into team_session (session, person, person_id, kind, id_token, anchor, first_used_at)
      values (${session}, ${name}, ${id}, ${kind}, ${idToken ?? null}, ${JSON.stringify(anchor)}::json, ${now}::timestamptz)
      on conflict do nothing
    `
    if (this.#written.size >= writtenMax) this.#written.clear()
    this.#written.add(key)
  }
}
