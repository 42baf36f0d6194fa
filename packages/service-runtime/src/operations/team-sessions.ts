import type { TeamCaller } from '@backoffice/team-identity'
import type { Database } from '../database/db.ts'

const writtenMax = 10_000

/**
 * Keeps the ID token of each session, once: with it, the proofs of the audit trail can be verified later, by somebody who
 * trusts no service.
 */
export class TeamSessions {
  readonly #db: Database
  /** Those that this process has written. */
  readonly #written = new Set<string>()

  constructor(db: Database) {
    this.#db = db
  }

  async keep({ session, name, kind, evidence: { idToken } }: TeamCaller, now: Date): Promise<void> {
    const key = `${session} ${name}`
    if (this.#written.has(key)) return
    await this.#db`
      insert into team_session (session, person, kind, id_token, first_used_at)
      values (${session}, ${name}, ${kind}, ${idToken ?? null}, ${now}::timestamptz)
      on conflict do nothing
    `
    if (this.#written.size >= writtenMax) this.#written.clear()
    this.#written.add(key)
  }
}
