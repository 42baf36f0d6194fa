import { freshLoginMinutes, holdsFor, type Operation, Rejection, type TeamRole } from '@backoffice/contracts'
import { IdentityRefused, KeysUnavailable, type TeamCaller, type TeamVerifier } from '@backoffice/team-identity'
import type { Database } from '../database/db.ts'
import type { TeamCall } from '../messages/rpc-server.ts'
import type { Clock } from '../process/clock.ts'
import type { Logger } from '../process/log.ts'
import { meter } from '../telemetry/metrics.ts'
import { inputSchema, readMessage } from '../validation/validate.ts'
import { recordAction } from './audit.ts'
import { TeamSessions } from './team-sessions.ts'

type Input = Readonly<Record<string, unknown>>

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

function refusalOf(operation: Operation, input: unknown, caller: TeamCaller, now: Date): Rejection | undefined {
  const { roles = [], freshLogin } = operation
  if (!roles.some((role: TeamRole) => caller.roles.has(role))) return new Rejection('ROLE_REQUIRED', { roles })
  const given = objectOf(input)
  const needsFresh = given.unmask === true || (freshLogin !== undefined && holdsFor(freshLogin, given))
  // A machine has nobody who could leave a desk.
  if (!needsFresh || caller.loggedInAt === undefined) return undefined
  const ageMs = now.getTime() - caller.loggedInAt.getTime()
  return ageMs <= freshLoginMinutes * 60_000
    ? undefined
    : new Rejection('FRESH_LOGIN_REQUIRED', { minutes: freshLoginMinutes, loggedInAt: caller.loggedInAt.toISOString() })
}

/** For the trail. Nothing is kept of an input that is not valid: it may be of any size, and anything may be in it. */
function validInput(operation: Operation, input: unknown): Input {
  const read = readMessage(inputSchema(operation), input)
  return read.issues === null ? objectOf(read.known) : {}
}

/** The input as it was sent. It is not validated yet. */
const objectOf = (input: unknown): Input =>
  typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
