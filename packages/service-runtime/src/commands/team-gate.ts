import { type Operation, Rejection } from '@backoffice/contracts'
import { type Clock, type Logger, meter } from '@backoffice/process'
import {
  IdentityRefused,
  KeysUnavailable,
  objectOf,
  refusalOf,
  type TeamCaller,
  type TeamVerifier,
} from '@backoffice/team-identity'
import type { Database } from '../database/db.ts'
import { inputSchema, readMessage } from '../messages/message.ts'
import type { TeamCall } from '../messages/rpc-server.ts'
import { recordAction } from './audit.ts'
import { TeamSessions } from './team-sessions.ts'

interface GateContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
}

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

  /** @throws {Rejection} LOGIN_REQUIRED, ROLE_REQUIRED, FRESH_LOGIN_REQUIRED; SERVICE_UNAVAILABLE while the provider's keys cannot be read */
  async admit(operation: Operation, call: TeamCall): Promise<TeamCaller> {
    const { db, clock } = this.#context
    const now = clock.now()
    const caller = await this.#identify(operation, call, now)
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

  async #identify(operation: Operation, call: TeamCall, now: Date): Promise<TeamCaller> {
    try {
      return await this.#verifier.verify(call, call, now)
    } catch (error) {
      if (error instanceof KeysUnavailable) throw new Rejection('SERVICE_UNAVAILABLE', undefined, { cause: error })
      if (!(error instanceof IdentityRefused)) throw error
      const { reason, message } = error
      refused.add(1, { operation: operation.id, code: 'LOGIN_REQUIRED', reason })
      this.#context.log.warn({ operation: operation.id, reason, err: error }, 'a call that nobody of the team made')
      throw new Rejection('LOGIN_REQUIRED', { reason, message })
    }
  }
}

/** For the trail. Nothing is kept of an input that is not valid: it may be of any size, and anything may be in it. */
function validInput(operation: Operation, input: unknown): Readonly<Record<string, unknown>> {
  const read = readMessage(inputSchema(operation), input)
  return read.issues === null ? objectOf(read.known) : {}
}
