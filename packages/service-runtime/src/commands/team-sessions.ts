import { type operations, type Reply, type TeamMember, teamMembersMax } from '@backoffice/contracts'
import type { TeamCaller } from '@backoffice/team-identity'
import type { Database } from '../database/db.ts'
import type { Call, QueryTools } from './handle.ts'
import { type WithTimes, withIsoTimes } from './reply.ts'

const writtenMax = 10_000

/**
 * Keeps the ID token of each session, once, and the key that it rests on: with them, the proofs of the audit trail can be
 * verified later, by somebody who trusts no service.
 */
export class TeamSessions {
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

type ListSessions = (typeof operations)['gateway']['listSessions']

/** Answers the `listSessions` operation of any service. */
export async function readMembers({ input }: Call<ListSessions>, { db }: QueryTools): Promise<Reply<ListSessions>> {
  const rows = await db<WithTimes<TeamMember, 'latestSessionAt'>>`
    select person as name, kind, max(first_used_at) as latest_session_at
    from team_session where first_used_at >= ${input.since}::timestamptz
    group by person, kind order by latest_session_at desc, name limit ${teamMembersMax}
  `
  return { data: rows.map(withIsoTimes) }
}
